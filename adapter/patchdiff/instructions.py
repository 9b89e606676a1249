"""What the server tells an agent at the start of a session, profile by profile."""

from typing import Final

READER: Final = """\
PatchDIFF keeps text documents ("targets") with every attempt to edit them.

patchdiff_read_lines and patchdiff_find_occurrences show exact text; offsets are code points.
patchdiff_get_pdcp_log lists every attempt, patchdiff_get_manifest_ledger the accepted changes.
Look at status in every answer: isError false does not mean that a proposal was accepted.
"""

FULL: Final = """\
PatchDIFF edits text documents ("targets") through guarded, atomic, audited transactions.

1. patchdiff_initialize_target creates a target; keep its target_file_id and version.
2. patchdiff_read_lines and patchdiff_find_occurrences show exact text; offsets are code points.
3. patchdiff_submit_edits replaces exact text, patchdiff_submit_operations also spans of offsets
   (several spans of one read in descending order). Pass as expected_target_version the version of
   the read that the edits came from, and a client_request_id, so that a call whose answer was lost
   can be repeated safely.
4. Look at status in every answer. "rejected" is an ordinary result (isError false): nothing was
   changed. Read its diagnostic, search a short distinctive part of the text, copy what is really
   there, adjust the replacement too, and submit anew with parent_pdcp_log_id set to the rejection's
   pdcp_log_id and a new client_request_id.

To change one function, section or other symbol and be sure that nothing else changes, observe it
with patchdiff_observe_scope and submit with patchdiff_submit_observed_operations, which takes the
receipt's id and both guards; several symbols go into one bundle and one batch. Do so always when an
answer has the code OBSERVATION_REQUIRED: kind "document" observes the whole text. A receipt is used
up by an accepted submission, and stale after any other change or a save.

patchdiff_get_pdcp_log lists every attempt, patchdiff_get_manifest_ledger the accepted changes.
"""

OBSERVED_EDITOR: Final = """\
PatchDIFF edits text documents inside scopes that you have observed: a function, a section, a
configuration item, or the whole text (kind "document").

1. open makes a document, or opens one by its target_file_id.
2. read and find show exact text; offsets are code points. observe without a selector lists the
   symbols; with symbol_name it issues a receipt (observation_id) with the symbol's text, with
   selections a bundle of several.
3. edit changes text inside the scopes of receipts. Send snapshot.version of the observation as
   expected_target_version, snapshot.current_hash as expected_current_hash, and a client_request_id.
   Receipts are used up by an accepted edit, and stale after any other change or a save: observe
   again.
4. Every answer has a snapshot: target_file_id, version and current_hash as they are now. Look at
   status. "rejected" changed nothing: read failure_reason and diagnostic, look at the text again,
   mend the proposal, and send it with parent_pdcp_log_id and a new client_request_id.
5. save keeps a checkpoint, history lists attempts or accepted changes.
"""

PLASTIC: Final = """\
Bounded evidence from a Plastic SCM workspace; nothing in it is changed, and no patch is applied.

plastic_diff compares files, revisions or pending changes. plastic_patch generates a review patch.
Look at ok, completeness and error in every answer before you call a review complete.
"""

WORKSPACE: Final = """\
PatchDIFF edits the files of one workspace directory through guarded, atomic, audited transactions.

1. patchdiff_initialize_target imports a file: filename is its path below the workspace root, and
   from_workspace is true. Keep target_file_id.
2. patchdiff_read_lines shows exact text; offsets are code points.
3. patchdiff_observe_scope without a selector lists the symbols; with symbol_name it issues a
   receipt with the symbol's text, with selections a bundle of several. Kind "document" is the whole
   text.
4. patchdiff_submit_observed_operations edits inside the receipts' scopes. Send both guards of the
   observation and a client_request_id. A receipt is used up by an accepted submission, and stale
   after any other change or a save.
5. patchdiff_save keeps a checkpoint and publishes the text to its file. Edits reach the file only
   then.

Look at status in every answer. "rejected" changed nothing: read failure_reason and diagnostic, read
again, and mend the proposal. external_disk_drift means that somebody else changed the file: import
it anew. After "partial" the file was written and the checkpoint is uncertain: look before going on.
"""
