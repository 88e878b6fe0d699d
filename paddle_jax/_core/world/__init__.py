"""The processes of a program that runs as several: who they are, how they find each other, and what they do
when one of them fails.

`environment` reads what a launcher has said, `gate` connects the processes before the first device is
touched, `wire` runs collectives as compiled programs, `channel` carries messages between two processes, and
`watch` sees to it that nobody waits for ever.
"""
