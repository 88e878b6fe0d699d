"""How a thread runs Paddle code, and code that becomes a program: frames, traces, captures, what they find
outside and put back."""
