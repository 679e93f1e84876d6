"""An open index → what the router needs from a project, and the folder of its sessions and notes."""
