"""How a thread runs Paddle code: its Frame, traces, and the one dispatch point."""
