#!/bin/bash
# The sweep of my plan.toml as a Slurm job array of 4 shards and a job that merges
# what they have done. Run this script where sbatch is; it submits both:
#
#   bash SCRIPT
#
# Submit it again after a failure: points that are done aren't simulated again.
#SBATCH --job-name=sweep-my-plan
#SBATCH --cpus-per-task=1
#SBATCH --requeue
#SBATCH --open-mode=append
plan='my plan.toml'
out='my plan.sweep'
shards=4

case ${SERVESIM_STEP:-submit} in
submit)
	array=$(sbatch --parsable --array="0-$((shards - 1))" --export=ALL,SERVESIM_STEP=shard "$0") || exit
	exec sbatch --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes --export=ALL,SERVESIM_STEP=merge "$0"
	;;
merge)
	exec servesim sweep "$plan" --out "$out" --merge --shards "$shards"
	;;
esac

servesim sweep "$plan" --out "$out" --shard "$SLURM_ARRAY_TASK_ID/$shards" --jobs "${SLURM_CPUS_PER_TASK:-1}" &
shard=$!
asked=no # to end, by scancel or at the time limit
trap 'asked=yes; kill -TERM "$shard"' TERM # the points under way are finished and kept
wait "$shard"
status=$?
while kill -0 "$shard" 2>/dev/null; do
	wait "$shard"
	status=$?
done
# Exit code 1 is worth another try, and so is being killed; 2 isn't: the plan, or what
# it names, is at fault.
if { [ "$status" -eq 1 ] || [ "$status" -gt 128 ]; } && [ $asked = no ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 3 ]; then
	scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
fi
exit "$status"
