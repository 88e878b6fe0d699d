"""Parameter servers: tables of rows and of dense values in processes of their own, on gRPC.

What serves needs NumPy alone. `fleet` starts it; see docs/parameter_servers.md.
"""
