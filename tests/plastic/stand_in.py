"""A stand-in for the client `cm`, and for `diff`, over a repository on disk. For tests only.

It is run as a program named `cm` or `diff`, and finds its state in the directory that
STAND_IN_STATE names: `state.json`, `blobs/`, `faults.json`; every start is a line of
`calls.ndjson`. It is stricter than the real client: an unknown command or option fails and is
logged. What rests on documentation or on captured output of the real client is unmarked; GUESS
marks what nobody has seen, and a fault covers the opposite.
"""

# Every test starts this several times: heavy modules, pathlib among them, are left out or imported
# where they are needed.
import json
import os
import re
import sys
import time

STATE = os.environ["STAND_IN_STATE"]


def load(name, default):
    try:
        with open(os.path.join(STATE, name), encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return default


def log(command, arguments):
    """Record this start; returns how many of the same command came before."""
    path = os.path.join(STATE, "calls.ndjson")
    before = 0
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            before = sum(json.loads(line)["command"] == command for line in file)
    descriptors = []
    for name in os.listdir("/proc/self/fd"):
        try:
            descriptors.append([int(name), os.readlink(f"/proc/self/fd/{name}")])
        except OSError:
            pass
    record = {
        "command": command,
        "argv": arguments,
        "cwd": os.getcwd(),
        "LC_ALL": os.environ.get("LC_ALL"),
        "private": sorted(name for name in os.environ if name.startswith("PATCHDIFF_")),
        "stdin": os.readlink("/proc/self/fd/0"),
        "descriptors": sorted(d for d in descriptors if d[0] > 2 and "/proc/" not in d[1]),
        "pid": os.getpid(),
        "session": os.getsid(0),
    }
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    return before


def note(pid):
    """Record the number of a further process."""
    with open(os.path.join(STATE, "pids"), "a", encoding="utf-8") as file:
        file.write(f"{pid}\n")


def fault_of(command, arguments, before):
    """All faults that apply to this start, as one dictionary."""
    found = {}
    for rule in load("faults.json", []):
        if rule["command"] not in (command, "*"):
            continue
        if "argContains" in rule and not any(rule["argContains"] in each for each in arguments):
            continue
        if "nth" in rule and rule["nth"] != before:
            continue
        found.update(rule)
    return found


class Refusal(Exception):
    pass


def options_of(arguments, allowed):
    """Positional arguments and options; raises Refusal for an option that is not allowed."""
    positional, options = [], {}
    for argument in arguments:
        if argument.startswith("-"):
            name, _, value = argument.partition("=")
            if name not in allowed:
                raise Refusal(f"Unexpected option {argument}")
            options[name] = value
        else:
            positional.append(argument)
    return positional, options


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def element(name, content):
    if isinstance(content, list):
        return f"<{name}>{''.join(content)}</{name}>"
    return f"<{name}>{escape(str(content))}</{name}>" if content != "" else f"<{name} />"


def elements(values):
    return [element(name, value) for name, value in values.items()]


def document(text):
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}'.encode()


def digest(state, revision):
    import base64
    import hashlib

    with open(os.path.join(STATE, "blobs", revision["blob"]), "rb") as file:
        content = file.read()
    algorithm = revision.get("algorithm", "MD5")
    return base64.b64encode(hashlib.new(algorithm.lower(), content).digest()).decode(), content


def require(options, *names):
    for name in names:
        if name not in options:
            raise Refusal(f"this stand-in wants {name}")
    if options.get("--encoding", "utf-8") != "utf-8":
        raise Refusal("this stand-in prints UTF-8 only")


def status(state, arguments):
    positional, options = options_of(arguments, {"--all", "--xml", "--encoding", "--fp"})
    require(options, "--all", "--xml", "--encoding", "--fp")
    if positional != [state["root"]]:
        raise Refusal(f"{positional} is not in a workspace.")
    changes = []
    for row in state["pending"]:
        old = row.get("oldPath", "")
        values = {
            "Type": row["type"],
            "TypeVerbose": "",
            "Path": f"{state['root']}/{row['path']}",
            "OldPath": f"{state['root']}/{old}" if old else "",
            "MergesInfo": row.get("mergesInfo", ""),
            "SimilarityPerUnit": 0,
        }
        if row.get("revisionType"):
            values["RevisionType"] = row["revisionType"]
        changes.append(element("Change", elements(values)))
    server = state.get("statusServer", state["server"])
    header = element(
        "WorkspaceStatus",
        [
            element(
                "Status",
                [
                    element("RepSpec", elements({"Server": server, "Name": state["repository"]})),
                    element("Changeset", state["changeset"]),
                ],
            )
        ],
    )
    kind = elements({"WkConfigType": state["configType"], "WkConfigName": state["configName"]})
    rows = [element("Changes", changes)] if changes else []
    return document(element("StatusOutput", [header, *kind, *rows]))


def relative(state, path):
    prefix = state["root"] + "/"
    if not path.startswith(prefix):
        raise Refusal(f"{path} is not in a workspace.")
    return path[len(prefix) :]


def fileinfo(state, arguments):
    positional, options = options_of(arguments, {"--xml", "--encoding", "--symlink"})
    require(options, "--xml", "--encoding", "--symlink")
    [path] = positional
    name = relative(state, path)
    removed = name in state["removed"]
    entry = state["removed"].get(name) or state["loaded"].get(name)
    if entry is None:
        raise Refusal(f"The item {path} does not exist in the workspace.")
    revision = state["revisions"][str(entry["revid"])]
    hashed, content = digest(state, revision)
    xlink = "repository" in entry
    values = {
        "ClientPath": path,
        "ServerPath": entry["serverPath"],
        "Size": len(content),
        "Hash": hashed,
        "Owner": "someone",
        "RevisionChangeset": revision["changeset"],
        "RepSpec": ""
        if removed
        else f"{entry.get('repository', state['repository'])}@{state['server']}",
        "Status": "deleted" if removed else entry.get("status", "controlled"),
        "Type": revision.get("type", "txt"),
        "IsUnderXlink": str(xlink).lower(),
        "IsXlink": "false",
    }
    return document(element("FileInfos", [element("FileInfo", elements(values))]))


def ls(state, arguments):
    positional, options = options_of(arguments, {"--xml", "--encoding", "--symlink", "--tree"})
    require(options, "--xml", "--encoding")
    [path] = positional
    if "--tree" in options:
        expected = f"cs:{state['changeset']}@{state['repository']}@{state['server']}"
        if options["--tree"] != expected:
            raise Refusal(f"Specified changeset {options['--tree']} does not exist")
        tree = {entry["serverPath"]: entry for entry in state["tree"]}
        names = [path] if path in tree else []
        found = [(tree[name]["serverPath"], tree[name]) for name in names]
    else:
        import fnmatch

        name = relative(state, path)
        meta = any(character in name for character in "*?")
        names = [
            each
            for each in state["loaded"]
            if each == name or (meta and fnmatch.fnmatchcase(each, name))
        ]
        found = [(f"{state['root']}/{each}", state["loaded"][each]) for each in names]
    if not found:
        raise Refusal(f"The item {path} does not exist in the workspace.")
    items = []
    for current, entry in found:
        revision = state["revisions"][str(entry["revid"])]
        hashed, content = digest(state, revision)
        values = {
            "Status": "",
            "Name": current.rsplit("/", 1)[-1],
            "CurrentPath": current,
            "Size": len(content),
            "Type": revision.get("type", "txt"),
            "Changeset": revision["changeset"],
            # GUESS: a checked-out item lists the revision that is loaded
            "RevId": entry["revid"],
            "ParentRevId": -1,
            "ItemId": revision["itemId"],
            "Repository": f"rep:{entry.get('repository', state['repository'])}@{state['server']}",
            "Server": state["server"],
            "SymlinkTarget": "",
            "Hash": hashed,
            "HashAlgorithm": revision.get("algorithm", "MD5"),
        }
        items.append(element("LsItem", elements(values)))
    return document(element("LsResults", [element("LsItems", items)]))


def resolve(state, spec):
    match = re.fullmatch(r"revid:(\d+)@rep:(.+?)@repserver:(.+)", spec)
    place = (state["repository"], state["server"])
    if match and match[1] in state["revisions"] and (match[2], match[3]) == place:
        return digest(state, state["revisions"][match[1]])[1]
    if spec in state["specs"]:
        with open(os.path.join(STATE, "blobs", state["specs"][spec]), "rb") as file:
            return file.read()
    raise Refusal(f"The specified revision was not found {spec}")


def cat(state, arguments, fault):
    positional, options = options_of(arguments, {"--file", "--raw"})
    # the form `spec;file` writes the file: a leak of a caller's semicolon shows
    [spec] = positional
    target = options.get("--file")
    if ";" in spec:
        spec, target = spec.split(";", 1)
    require(options, "--raw")
    content = resolve(state, spec)
    if target is None:
        return content
    write_artifact(target, content, fault)
    # GUESS: an export to a file prints nothing
    return b""


def patch(state, arguments, fault):
    if "--apply" in arguments:
        raise SystemExit(99)
    positional, options = options_of(arguments, {"--output", "--tool", "--clean", "--integration"})
    if options.get("--tool") and not os.access(options["--tool"], os.X_OK):
        raise Refusal("Diff not found, please download it from: example")
    key = [*positional, "--clean" in options, "--integration" in options]
    for known in state["patches"]:
        if known["key"] == key:
            break
    else:
        raise Refusal(f"Specified branch {positional} does not exist")
    with open(os.path.join(STATE, "blobs", known["blob"]), "rb") as file:
        content = file.read()
    if "--output" not in options:
        return content
    if os.path.lexists(options["--output"]):
        raise Refusal("The output file exists already")
    # GUESS: no difference makes an empty file
    write_artifact(options["--output"], content, fault)
    return b""


def write_artifact(target, content, fault):
    if os.path.lexists(target):
        raise Refusal("this stand-in exports to new files only")
    if fault.get("noExport"):
        return
    if fault.get("exportSymlink"):
        os.symlink("/etc/hostname", target)
        return
    if fault.get("exportDirectory"):
        os.mkdir(target)
        return
    if fault.get("exportFifo"):
        os.mkfifo(target)
        return
    if "exportBytes" in fault:
        content = bytes.fromhex(fault["exportBytes"])
    if "oversizeExport" in fault:
        content = b"x" * fault["oversizeExport"]
    if "partialExport" in fault:
        content = content[: fault["partialExport"]]
    with open(target, "xb") as file:
        file.write(content)
    if fault.get("appendAfterExit"):
        spawn(
            f"import time\nfor _ in range(200):\n"
            f" open({target!r}, 'ab').write(b'more'); time.sleep(0.005)",
            True,
        )


def spawn(program, closed):
    """Start a grandchild, which holds the pipes unless they are closed."""
    import subprocess

    streams = subprocess.DEVNULL if closed else None
    child = subprocess.Popen(
        [sys.executable, "-IS", "-c", program],
        stdin=subprocess.DEVNULL,
        stdout=streams,
        stderr=streams,
    )
    note(child.pid)


def effects(fault):
    """What a fault does beside the command."""
    if fault.get("ignoreTerm"):
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "touchLocal" in fault:
        with open(fault["touchLocal"], "ab") as file:
            file.write(b"touched\n")
    if "removeLocal" in fault:
        os.unlink(fault["removeLocal"])
    if "createOutput" in fault:
        with open(fault["createOutput"], "xb") as file:
            file.write(b"another's")
    if fault.get("replaceOwned"):
        # the working directory of `diff` lies in the owned one
        owned = os.path.dirname(os.getcwd())
        os.rename(owned, owned + "-aside")
        os.symlink(owned + "-aside", owned)
    if fault.get("readStdin") and sys.stdin.buffer.read(1):
        raise SystemExit(97)
    if "grandchild" in fault:
        spawn(f"import time; time.sleep({fault['grandchild']})", bool(fault.get("closed")))


def finish(output, code, fault):
    """Print as the fault wants it and end."""
    if "replace" in fault:
        pattern, replacement = (each.encode("latin-1") for each in fault["replace"])
        output = re.sub(pattern, replacement, output, flags=re.DOTALL)
    if "prefix" in fault:
        output = bytes.fromhex(fault["prefix"]) + output
    if "output" in fault:
        output = bytes.fromhex(fault["output"])
    if "append" in fault:
        output += bytes.fromhex(fault["append"])
    if "truncate" in fault:
        output = output[: fault["truncate"]]
    if "padStdout" in fault:
        padding = b" " * (fault["padStdout"] - len(output))
        output = output.replace(b"<Changes>", b"<Changes>" + padding)
    if "noise" in fault:
        output += b"n" * fault["noise"]
    sys.stdout.buffer.write(output)
    sys.stdout.buffer.flush()
    if "stderr" in fault:
        sys.stderr.buffer.write(b"w" * fault["stderr"])
        sys.stderr.buffer.flush()
    if fault.get("closeThenHang"):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
    if "sleep" in fault:
        time.sleep(fault["sleep"])
    if "kill" in fault:
        os.kill(os.getpid(), fault["kill"])
    os._exit(fault.get("exit", code))


def run_cm(arguments):
    command, *rest = arguments or [""]
    fault = fault_of(command, rest, log(command, rest))
    effects(fault)
    state = load("state.json", {})
    code = 0
    output = b""
    try:
        if command == "version":
            output = b"11.0.16.10371\n"
        elif command == "diff":
            # the real one opens a window
            raise SystemExit(98)
        elif command in ("status", "fileinfo", "ls"):
            output = {"status": status, "fileinfo": fileinfo, "ls": ls}[command](state, rest)
        elif command in ("cat", "patch"):
            output = {"cat": cat, "patch": patch}[command](state, rest, fault)
        else:
            raise Refusal(f"unknown command {command}")
    except Refusal as problem:
        # GUESS: every failure exits with 1
        sys.stderr.write(f"{problem}\n")
        sys.stderr.flush()
        code = 1
    finish(output, code, fault)


def run_diff(arguments):
    import shutil
    import subprocess

    fault = fault_of("diff-program", arguments, log("diff-program", arguments))
    effects(fault)
    real = shutil.which("diff", path=os.environ["STAND_IN_REAL_PATH"])
    done = subprocess.run([real, *arguments], capture_output=True, check=False)
    sys.stderr.buffer.write(done.stderr)
    finish(done.stdout, done.returncode, fault)


if __name__ == "__main__":
    if os.path.basename(sys.argv[0]) == "diff":
        run_diff(sys.argv[1:])
    else:
        run_cm(sys.argv[1:])
