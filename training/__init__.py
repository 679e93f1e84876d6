"""Trains the embedders that codecards ships, from packages of the registries."""
