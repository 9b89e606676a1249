"""Every way in which a loaded base is not admitted: nothing is compared, nothing is tried again."""

from typing import Any

import pytest

from tests.plastic.kit import MIB, Workspace, error, quick

PATH = "Assets/Example.txt"


def failing(workspace: Workspace, *commands: str) -> tuple[str, str] | None:
    """The error of one comparison that must stop after these commands, in this order."""
    workspace.change(PATH, b"base\n", b"local\n")
    workspace.use_stand_in_diff()
    envelope = workspace.file(PATH)
    assert envelope["data"] is None
    assert not envelope["ok"]
    assert workspace.commands() == list(commands)
    return error(envelope)


STATUS_FAULTS = [
    pytest.param({"exit": 1}, "command_failed"),
    pytest.param({"exit": 1, "output": ""}, "command_failed"),
    pytest.param({"exit": 77}, "command_failed"),
    pytest.param({"stderr": 1}, "command_stderr", marks=pytest.mark.req("PDIFF-056")),
    pytest.param({"exit": 1, "stderr": 1}, "command_failed", marks=pytest.mark.req("PDIFF-056")),
    pytest.param({"kill": 9}, "command_signaled"),
    pytest.param({"kill": 15}, "command_signaled"),
    pytest.param({"replace": ["Example", "\xff"]}, "invalid_encoding"),
    pytest.param({"output": ""}, "malformed_metadata"),
    pytest.param({"prefix": b"The item does not exist.\n".hex()}, "malformed_metadata"),
    pytest.param({"prefix": "efbbbfefbbbf"}, "malformed_metadata"),
    pytest.param({"truncate": 200}, "malformed_metadata"),
    pytest.param({"append": b"<x/>".hex()}, "malformed_metadata"),
    pytest.param({"replace": ["StatusOutput", "Other"]}, "malformed_metadata"),
    pytest.param(
        {"replace": ["<StatusOutput>", "<!DOCTYPE StatusOutput><StatusOutput>"]},
        "malformed_metadata",
    ),
    pytest.param(
        {"replace": ["<StatusOutput>", '<!DOCTYPE x [<!ENTITY e "x">]><StatusOutput>']},
        "malformed_metadata",
    ),
    pytest.param({"replace": ["<StatusOutput>", "<StatusOutput><?x y?>"]}, "malformed_metadata"),
    pytest.param({"replace": ["<StatusOutput>", "<StatusOutput>text"]}, "malformed_metadata"),
    pytest.param({"replace": ["<Changeset>7", "<Changeset>seven"]}, "malformed_metadata"),
    pytest.param({"replace": ["<Changeset>7</Changeset>", ""]}, "malformed_metadata"),
    pytest.param({"replace": ["<Name>game</Name>", "<Name />"]}, "malformed_metadata"),
    pytest.param(
        {"replace": ["<Name>game</Name>", "<Name>a</Name><Name>b</Name>"]}, "malformed_metadata"
    ),
    pytest.param({"replace": ["<Path>[^<]*", "<Path>/elsewhere/x"]}, "malformed_metadata"),
    pytest.param({"replace": ["<Path>[^<]*", "<Path>a/../x"]}, "malformed_metadata"),
    pytest.param({"replace": ["<Path>[^<]*</Path>", ""]}, "malformed_metadata"),
    pytest.param({"replace": ["<Type>CH", "<Type>CH+"]}, "malformed_metadata"),
    pytest.param({"replace": ["<Change>", "<Row>"]}, "malformed_metadata"),
    pytest.param(
        {"replace": ["<Changes>", "<Changelists></Changelists><Changes>"]}, "malformed_metadata"
    ),
    pytest.param(
        {"replace": ["<Changeset>7", "<Changeset>-1"]},
        "unsupported_status",
        marks=pytest.mark.req("PDIFF-087"),
    ),
    pytest.param({"replace": ["<Changeset>7", "<Changeset>-12"]}, "unsupported_status"),
    pytest.param({"replace": ["<Type>CH", "<Type>CH+ZZ"]}, "unsupported_status"),
    *[
        pytest.param({"replace": ["<Type>CH", f"<Type>{code}"]}, "unsupported_status")
        for code in ("IG", "CL", "HC", "HD", "AD+LD", "zz")
    ],
    *[
        pytest.param(
            {"replace": ["<Type>CH", f"<Type>{code}"]},
            "unsupported_status",
            marks=pytest.mark.req("PDIFF-086"),
        )
        for code in ("CP", "CO+CP", "AD+CP")
    ],
    *[
        pytest.param({"replace": ["<Type>CH", f"<Type>{code}"]}, "ambiguous_status")
        for code in ("AD+DE", "CH+DE", "PR+CH", "MV+LM", "AD+MV", "MV", "LM")
    ],
    pytest.param({"replace": ["enTextFile", "enSymLink"]}, "not_regular_file"),
    pytest.param({"replace": ["enTextFile", "enDirectory"]}, "not_regular_file"),
    pytest.param({"replace": ["enTextFile", "enOther"]}, "not_regular_file"),
]


@pytest.mark.parametrize(("fault", "code"), STATUS_FAULTS)
@pytest.mark.req("PDIFF-039", "PDIFF-040")
def test_a_status_that_is_not_admitted(
    workspace: Workspace, fault: dict[str, Any], code: str
) -> None:
    workspace.fault("status", **fault)
    assert failing(workspace, "status") == (code, "status")


@pytest.mark.req("PDIFF-033")
@pytest.mark.parametrize(
    ("command", "stage", "ran"),
    [("status", "status", 1), ("fileinfo", "ownership", 2), ("ls", "ownership", 3)],
)
def test_metadata_that_are_no_utf_8(
    workspace: Workspace, command: str, stage: str, ran: int
) -> None:
    workspace.fault(command, replace=["Example", "\xc3("])
    commands = ("status", "fileinfo", "ls")[:ran]
    assert failing(workspace, *commands) == ("invalid_encoding", stage)


def replacing(pattern: str, replacement: str) -> dict[str, Any]:
    return {"replace": [pattern, replacement]}


FILEINFO_FAULTS = [
    ({"exit": 1}, "command_failed"),
    ({"stderr": 1}, "command_stderr"),
    ({"kill": 9}, "command_signaled"),
    ({"output": b"<FileInfos/>".hex()}, "base_unavailable"),
    (replacing("(<FileInfo>.*</FileInfo>)", r"\1\1"), "malformed_metadata"),
    (replacing("<Type>txt", "<Type>dir"), "base_unavailable"),
    (replacing("<Type>txt", "<Type>Text"), "base_unavailable"),
    (replacing("<Status>controlled", "<Status>private"), "base_unavailable"),
    (replacing("<Status>controlled", "<Status>added"), "base_unavailable"),
    (replacing("<Status>controlled", "<Status>deleted"), "base_unavailable"),
    (replacing("<Hash>[^<]*</Hash>", "<Hash />"), "base_unavailable"),
    (replacing("<RepSpec>[^<]*</RepSpec>", "<RepSpec />"), "base_unavailable"),
    (replacing("<RevisionChangeset>3", "<RevisionChangeset>-1"), "base_unavailable"),
    (replacing("<RevisionChangeset>3", "<RevisionChangeset>"), "base_unavailable"),
    (replacing("<RevisionChangeset>3", "<RevisionChangeset>1.5"), "malformed_metadata"),
    (replacing("<IsXlink>false", "<IsXlink>true"), "base_unavailable"),
    (replacing("<IsXlink>false", "<IsXlink>no"), "malformed_metadata"),
    (replacing("<IsUnderXlink>false</IsUnderXlink>", ""), "malformed_metadata"),
    (replacing("<ClientPath>[^<]*", "<ClientPath>/other"), "malformed_metadata"),
    (replacing("<ServerPath>[^<]*</ServerPath>", ""), "base_unavailable"),
]


@pytest.mark.parametrize(("fault", "code"), FILEINFO_FAULTS)
@pytest.mark.req("PDIFF-039", "PDIFF-040")
def test_file_information_that_is_not_admitted(
    workspace: Workspace, fault: dict[str, Any], code: str
) -> None:
    workspace.fault("fileinfo", **fault)
    assert failing(workspace, "status", "fileinfo") == (code, "ownership")


LS_FAULTS = [
    ({"exit": 1}, "command_failed"),
    ({"stderr": 1}, "command_stderr"),
    ({"output": b"<LsResults><LsItems/></LsResults>".hex()}, "base_unavailable"),
    ({"output": b"<LsResults></LsResults>".hex()}, "malformed_metadata"),
    (replacing("(<LsItem>.*</LsItem>)", r"\1\1"), "malformed_metadata"),
    (replacing("<CurrentPath>[^<]*", "<CurrentPath>/other"), "base_unavailable"),
    (replacing("<Type>txt", "<Type>xlink"), "base_unavailable"),
    (replacing("<RevId>[^<]*", "<RevId>-5"), "base_unavailable"),
    (replacing("<RevId>[^<]*", "<RevId>0"), "base_unavailable"),
    (replacing("<RevId>[^<]*", "<RevId>"), "base_unavailable"),
    (replacing("<RevId>[^<]*", "<RevId>1.7"), "malformed_metadata"),
    (replacing("<RevId>[^<]*", "<RevId>" + "9" * 20), "malformed_metadata"),
    (replacing("<ItemId>[^<]*", "<ItemId>-3"), "base_unavailable"),
    (replacing("<SymlinkTarget />", "<SymlinkTarget>x</SymlinkTarget>"), "base_unavailable"),
    (replacing("<Changeset>3", "<Changeset>4"), "base_changed"),
    (replacing("<Hash>[^<]*", "<Hash>AAAAAAAAAAAAAAAAAAAAAA=="), "base_changed"),
    pytest.param(
        replacing("rep:game@server", "rep:other@server"),
        "base_unavailable",
        marks=pytest.mark.req("PDIFF-032"),
    ),
    pytest.param(
        replacing("rep:game@server.example", "rep:game@elsewhere.example"),
        "base_unavailable",
        marks=pytest.mark.req("PDIFF-032"),
    ),
    pytest.param(
        replacing("<Server>server.example", "<Server>elsewhere.example"),
        "base_unavailable",
        marks=pytest.mark.req("PDIFF-032"),
    ),
    (replacing("rep:game@server", "game@server"), "base_unavailable"),
    (replacing("rep:game@", "rep:game"), "base_unavailable"),
    (replacing("<HashAlgorithm>MD5", "<HashAlgorithm>SHA1"), "base_unavailable"),
    (replacing("<HashAlgorithm>MD5", "<HashAlgorithm>CRC"), "base_unavailable"),
]


@pytest.mark.parametrize(("fault", "code"), LS_FAULTS)
@pytest.mark.req("PDIFF-039", "PDIFF-040")
def test_a_listing_that_is_not_admitted(
    workspace: Workspace, fault: dict[str, Any], code: str
) -> None:
    workspace.fault("ls", **fault)
    assert failing(workspace, "status", "fileinfo", "ls") == (code, "ownership")


@pytest.mark.req("PDIFF-032")
def test_a_repository_of_another_name_than_the_status_s_fails(workspace: Workspace) -> None:
    workspace.fault("status", replace=["<Name>game", "<Name>other"])
    assert failing(workspace, "status", "fileinfo", "ls") == ("base_unavailable", "ownership")


@pytest.mark.req("PDIFF-032")
def test_both_observations_of_another_repository_fail(workspace: Workspace) -> None:
    for command in ("fileinfo", "ls"):
        workspace.fault(command, replace=["game@server", "mixed@server"])
    assert failing(workspace, "status", "fileinfo", "ls") == ("base_unavailable", "ownership")


def test_a_server_may_have_another_name_in_the_status(workspace: Workspace) -> None:
    workspace.state["statusServer"] = "0123-id@cloud"
    workspace.change(PATH, b"a\n", b"b\n")
    envelope = workspace.file(PATH)
    assert envelope["data"]["left"]["identity"]["server"] == workspace.state["server"]


@pytest.mark.req("PDIFF-041")
def test_a_file_under_an_xlink_has_no_verified_base(workspace: Workspace) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    workspace.state["loaded"][PATH]["repository"] = "library"
    assert error(workspace.file(PATH)) == ("base_unavailable", "ownership")
    assert workspace.commands() == ["status", "fileinfo"]


def test_a_name_with_meta_characters_that_lists_several_items_fails(
    workspace: Workspace,
) -> None:
    workspace.change("a*.txt", b"a\n", b"b\n")
    assert workspace.file("a*.txt")["ok"]
    workspace.load("ab.txt", b"other\n")
    assert error(workspace.file("a*.txt")) == ("malformed_metadata", "ownership")


@pytest.mark.req("PDIFF-030")
@pytest.mark.parametrize("algorithm", ["MD5", "SHA1"])
@pytest.mark.parametrize("told", [True, False])
def test_the_hash_is_verified_in_either_algorithm(
    workspace: Workspace, algorithm: str, told: bool
) -> None:
    workspace.change(PATH, b"a\n", b"b\n", algorithm=algorithm)
    if not told:
        workspace.fault("ls", replace=["<HashAlgorithm>[^<]*</HashAlgorithm>", ""])
    identity = workspace.file(PATH)["data"]["left"]["identity"]
    assert identity["hashAlgorithm"] == algorithm
    assert identity["hashAlgorithmSource"] == ("metadata" if told else "length")
    assert identity["hashVerified"] is True


@pytest.mark.req("PDIFF-031")
@pytest.mark.parametrize("algorithm", ["MD5", "SHA1"])
@pytest.mark.parametrize(
    "fault", [{"exportBytes": b"other\n".hex()}, {"partialExport": 2}, {"exportBytes": ""}]
)
def test_bytes_that_do_not_have_the_recorded_hash_fail(
    workspace: Workspace, algorithm: str, fault: dict[str, Any]
) -> None:
    workspace.change(PATH, b"base\n", b"local\n", algorithm=algorithm)
    workspace.use_stand_in_diff()
    workspace.fault("cat", **fault)
    assert error(workspace.file(PATH)) == ("base_changed", "export")
    assert workspace.commands() == ["status", "fileinfo", "ls", "cat"]


@pytest.mark.req("PDIFF-031")
@pytest.mark.parametrize(
    ("hashed", "code"),
    [("AAAAAAAAAAAAAAAAAAAAAA==", "base_changed"), ("AAAA", "base_unavailable"),
     ("no base64", "malformed_metadata")],
)  # fmt: skip
def test_a_recorded_hash_that_is_none(workspace: Workspace, hashed: str, code: str) -> None:
    workspace.change(PATH, b"base\n", b"local\n")
    for command in ("fileinfo", "ls"):
        workspace.fault(command, replace=["<Hash>[^<]*", f"<Hash>{hashed}"])
    workspace.faults.append(
        {"command": "ls", "replace": ["<Hash>[^<]*(.*)<HashAlgorithm>MD5</HashAlgorithm>",
                                      f"<Hash>{hashed}\\1"]}
    )  # fmt: skip
    assert error(workspace.file(PATH))[0] == code


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"exit": 1}, "command_failed"),
        ({"exit": 2, "noExport": True}, "command_failed"),
        ({"stderr": 1}, "command_stderr"),
        ({"kill": 9}, "command_signaled"),
        ({"noise": MIB + 1}, "output_limit"),
    ],
)
@pytest.mark.req("PDIFF-062", "PDIFF-040")
def test_an_export_that_fails_is_not_repeated(
    workspace: Workspace, fault: dict[str, Any], code: str
) -> None:
    workspace.fault("cat", **fault)
    ran = ("status", "fileinfo", "ls", "cat")
    assert failing(workspace, *ran) == (code, "export")


def test_what_an_export_prints_is_counted_not_read(workspace: Workspace) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    workspace.fault("cat", noise=12)
    capture = workspace.file(PATH)["data"]["captures"][3]
    assert (capture["stdoutBytes"], capture["stdoutKept"]) == (12, 12)


@pytest.mark.parametrize("command", ["status", "fileinfo", "ls", "cat", "diff-program"])
@pytest.mark.req("PDIFF-057", "PDIFF-062")
def test_a_command_over_its_time_is_stopped_and_not_repeated(
    workspace: Workspace, command: str
) -> None:
    workspace.limits = quick()
    workspace.fault(command, sleep=30)
    ran = ["status", "fileinfo", "ls", "cat", "diff-program"]
    stages = ["status", "ownership", "ownership", "export", "compare"]
    index = ran.index(command)
    assert failing(workspace, *ran[: index + 1]) == ("command_timeout", stages[index])


@pytest.mark.req("PDIFF-084")
def test_a_client_that_is_no_program(workspace: Workspace) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    (workspace.programs_path / "cm").chmod(0o644)
    assert error(workspace.file(PATH)) == ("backend_unavailable", "status")


@pytest.mark.req("PDIFF-024")
def test_no_message_holds_what_a_command_printed(workspace: Workspace) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    workspace.fault("fileinfo", stderr=5000)
    envelope = workspace.file(PATH)
    assert set(envelope["error"]) == {"code", "message", "stage"}
    assert "www" not in str(envelope)
    assert PATH not in envelope["error"]["message"]


def test_an_item_below_a_private_directory_has_no_base(workspace: Workspace) -> None:
    workspace.write("loose/a.txt", b"a\n")
    workspace.pend("PR", "loose", revisionType="enDirectory")
    assert error(workspace.file("loose/a.txt")) == ("command_failed", "ownership")


def test_two_moves_from_one_path_are_ambiguous(workspace: Workspace) -> None:
    workspace.move("old.txt", "new.txt", b"a\n", b"b\n")
    workspace.write("copy.txt", b"c\n")
    workspace.pend("MV", "copy.txt", oldPath="old.txt")
    assert error(workspace.file("old.txt")) == ("ambiguous_status", "status")


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ({"replace": ["<Changeset>3", "<Changeset>4"]}, "base_changed"),
        ({"exit": 1}, "command_failed"),
    ],
)
def test_a_deleted_file_has_no_other_route(
    workspace: Workspace, fault: dict[str, Any], code: str
) -> None:
    workspace.delete("gone.txt", b"a\n")
    workspace.fault("ls", **fault)
    assert error(workspace.file("gone.txt")) == (code, "ownership")
    assert workspace.commands() == ["status", "fileinfo", "ls"]


def test_a_byte_order_mark_before_the_metadata_is_admitted(workspace: Workspace) -> None:
    workspace.change(PATH, b"a\n", b"b\n")
    workspace.fault("status", prefix="efbbbf")
    assert workspace.file(PATH)["ok"]
