"""`anabranch analyze --stdio`: requests and answers as JSON lines, for other programs; docs/stdio.md says it all.

`lines.py` cuts the input into lines, `protocol.py` reads requests and writes answers, `work.py` does what is asked,
`server.py` keeps what is in flight, and `serve.py` connects it with this process: pipes, signals, threads, the end.
"""
