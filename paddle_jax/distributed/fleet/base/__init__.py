"""What `paddle.distributed.fleet` knows about the processes of a program."""
