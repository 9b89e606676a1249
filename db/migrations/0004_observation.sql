-- Which receipt an attempt named, and in which form a receipt was used.

alter table patchdiff.append_only_pdcp_logs add column observation_id uuid;
comment on column patchdiff.append_only_pdcp_logs.observation_id is
'The receipt that an attempt in single form named, where it is one in form; null otherwise. A batch names its
receipts in the record.';

alter table patchdiff.target_scope_observations
add column consumption text check (consumption in ('single', 'batch')),
add check ((consumed_by_pdcp_log_id is null) = (consumption is null));
comment on column patchdiff.target_scope_observations.consumption is
'single or batch: the form of the accepted attempt that used the receipt, or null.';

-- an attempt in single form uses one receipt, a batch several
create unique index target_scope_observations_one_single
on patchdiff.target_scope_observations (target_file_id, consumed_by_pdcp_log_id)
where consumption = 'single';

-- a receipt of another target is told from one that was never issued
create index target_scope_observations_observation_id
on patchdiff.target_scope_observations (observation_id);
create index target_scope_bundles_observation_bundle_id
on patchdiff.target_scope_bundles (observation_bundle_id);
