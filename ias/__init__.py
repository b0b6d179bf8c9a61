"""A tool-orchestration daemon: tools ask, the daemon decides, a person approves, the daemon acts."""
