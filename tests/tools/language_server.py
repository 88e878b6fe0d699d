"""A client of a language server: requests and answers over its standard input and output."""

import itertools
import json
import subprocess
from pathlib import Path


class LanguageServer:
    """A running language server with one open program.

    Attributes:
        process: the server.
        uri: str, the address of the program.
        lines: list of str, those of the program.
    """

    def __init__(self, command, program: Path):
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.numbers = itertools.count(1)
        self.uri = program.as_uri()
        text = program.read_text(encoding="utf-8")
        self.lines = text.splitlines()
        folder = program.parent.as_uri()
        words = {"contentFormat": ["plaintext"], "documentationFormat": ["plaintext"]}
        capabilities = {
            "textDocument": {
                "hover": words,
                "completion": {"completionItem": words},
                "signatureHelp": {"signatureInformation": words},
            },
            "workspace": {"workspaceFolders": True},
        }
        self.ask(
            "initialize",
            processId=None,
            rootUri=folder,
            capabilities=capabilities,
            workspaceFolders=[{"uri": folder, "name": "program"}],
        )
        self.send({"method": "initialized", "params": {}})
        document = {"uri": self.uri, "languageId": "python", "version": 1, "text": text}
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        self.process.stdin.flush()

    def receive(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the language server has ended"
        return json.loads(self.process.stdout.read(length))

    def ask(self, method, **parameters):
        """The answer to a request; what the server asks meanwhile gets an empty answer."""
        number = next(self.numbers)
        self.send({"id": number, "method": method, "params": parameters})
        while True:
            message = self.receive()
            if "method" in message and "id" in message:
                items = message["params"].get("items", []) if isinstance(message.get("params"), dict) else []
                self.send({"id": message["id"], "result": [None] * len(items)})
            elif message.get("id") == number:
                assert "error" not in message, message["error"]
                return message["result"]

    def at(self, method, line, text):
        """The answer at the end of a text in a line of the program."""
        number = self.lines.index(line)
        position = {"line": number, "character": line.index(text) + len(text)}
        return self.ask(f"textDocument/{method}", textDocument={"uri": self.uri}, position=position)

    def hover(self, line, text):
        """The text that an editor shows below the pointer."""
        answer = self.at("hover", line, text)
        return answer["contents"]["value"] if answer else ""

    def completions(self, line, text):
        """{name: entry} that an editor offers."""
        answer = self.at("completion", line, text)
        return {item["label"]: item for item in answer["items"]}

    def signature(self, line, text):
        """The signature that an editor shows while a call is typed."""
        return self.at("signatureHelp", line, text)["signatures"][0]

    def definitions(self, line, text):
        """The files and lines that "go to definition" opens."""
        return [
            (found["uri"], found["range"]["start"]["line"] + 1) for found in self.at("definition", line, text)
        ]
