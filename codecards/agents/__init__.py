"""Coding agents → their configuration with codecards in it; an agent's hook events → recorded sessions."""
