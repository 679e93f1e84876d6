"""MCP requests on stdin → answers on stdout."""
