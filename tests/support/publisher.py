"""A process that publishes: `python -m tests.support.publisher URL ROOT PATH ROUNDS`.

It imports the file at PATH below ROOT, then edits and publishes it so many times, calling again
whenever the directory is busy. Prints one line of JSON: the target, its last text, how often it was
saved and found the directory busy, and, when ROUNDS is 0, the answer to one publication.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import psycopg

from tests.support.workspace import Managed


def main(url: str, root: Path, path: str, rounds: int) -> None:
    """Publish."""
    with psycopg.connect(url, autocommit=True) as connection:
        managed = Managed(connection, root)
        counts = {"saved": 0, "workspace_busy": 0}
        while (answer := managed.open(path))["status"] != "ok":
            assert answer["code"] == "workspace_busy", answer
            counts["workspace_busy"] += 1
            if rounds == 0:
                print(json.dumps({"answer": answer}))
                return
            time.sleep(0.001)
        target = answer["target_file_id"]
        text = ""
        for number in range(rounds):
            text = f"{path} {number}\n" * 200
            managed.replaced(target, text)
            while (answer := managed.save(target))["status"] != "saved":
                assert answer["code"] == "workspace_busy", answer
                counts["workspace_busy"] += 1
                time.sleep(0.001)
            counts["saved"] += 1
        print(json.dumps({"target": target, "text": text, "answer": answer, **counts}))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
