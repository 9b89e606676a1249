-- Where a target's file is, and what was last known to be in it.

create table patchdiff.workspace_files (
    target_file_id uuid not null primary key references patchdiff.cloud_target_files,
    root_device numeric(20) not null check (root_device >= 0),
    root_inode numeric(20) not null check (root_inode >= 0),
    relative_path text collate "C" not null check (relative_path <> ''),
    disk_sha256 text not null check (disk_sha256 ~ '^[0-9a-f]{64}$'),
    disk_bytes bigint not null check (disk_bytes >= 0),
    snapshot_id uuid,
    recorded_at timestamptz not null,
    foreign key (target_file_id, snapshot_id) references patchdiff.target_snapshots
);
comment on table patchdiff.workspace_files is
'The file of each target that was imported from a workspace or published to one, as it was last known on disk.';
comment on column patchdiff.workspace_files.target_file_id is 'The target.';
comment on column patchdiff.workspace_files.root_device is
'Device number of the root directory that the target is bound to.';
comment on column patchdiff.workspace_files.root_inode is 'Inode number of that directory.';
comment on column patchdiff.workspace_files.relative_path is
'The file''s path below the root, components separated by a slash. Never changes.';
comment on column patchdiff.workspace_files.disk_sha256 is
'Lowercase hex SHA-256 of the file''s bytes, as imported or as last published: a publication finds these or refuses.';
comment on column patchdiff.workspace_files.disk_bytes is 'Number of those bytes.';
comment on column patchdiff.workspace_files.snapshot_id is
'The snapshot whose text was last published; null after an import.';
comment on column patchdiff.workspace_files.recorded_at is 'When it was imported or last published.';
