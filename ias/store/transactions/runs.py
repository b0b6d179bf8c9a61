"""Runs: resumed, stepped, ended."""
