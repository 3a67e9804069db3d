package jobcheck

import (
	"bytes"
	"os"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

// manifest is what a test of the command holds --emit kubernetes to, in 4 shards.
const manifest = "../../cmd/servesim/testdata/sweep.kubernetes.yaml"

// jobs returns the documents of the manifest, each of which must be a Job without a
// key that a Job hasn't.
func jobs(t *testing.T) []batchv1.Job {
	t.Helper()
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	var list []batchv1.Job
	for _, doc := range bytes.Split(text, []byte("\n---\n")) {
		var j batchv1.Job
		if err := yaml.UnmarshalStrict(doc, &j); err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		list = append(list, j)
	}
	return list
}

// TestManifestIsJobs holds that the manifest is what it means to be.
func TestManifestIsJobs(t *testing.T) {
	list := jobs(t)
	if len(list) != 2 {
		t.Fatalf("%d documents, want the shards and the merge", len(list))
	}
	for _, j := range list {
		if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.Name == "" {
			t.Errorf("%s %s %q", j.APIVersion, j.Kind, j.Name)
		}
		pod := j.Spec.Template.Spec
		if pod.RestartPolicy != "Never" || len(pod.Containers) != 1 || pod.Containers[0].Name != "servesim" {
			t.Errorf("%s: pod %+v", j.Name, pod)
		}
		rule := j.Spec.PodFailurePolicy.Rules[0]
		if rule.Action != batchv1.PodFailurePolicyActionFailJob || rule.OnExitCodes == nil || rule.OnExitCodes.Operator != batchv1.PodFailurePolicyOnExitCodesOpIn ||
			len(rule.OnExitCodes.Values) != 1 || rule.OnExitCodes.Values[0] != 2 || *rule.OnExitCodes.ContainerName != pod.Containers[0].Name {
			t.Errorf("%s: exit code 2 isn't what fails the job: %+v", j.Name, rule)
		}
		claim := pod.Volumes[0].PersistentVolumeClaim
		if claim == nil || claim.ClaimName == "" || pod.Containers[0].VolumeMounts[0].Name != pod.Volumes[0].Name {
			t.Errorf("%s: volumes %+v", j.Name, pod.Volumes)
		}
	}
	shards := list[0].Spec
	if *shards.CompletionMode != batchv1.IndexedCompletion || *shards.Completions != 4 || *shards.Parallelism != 4 ||
		*shards.BackoffLimitPerIndex != 3 || *shards.MaxFailedIndexes != 0 {
		t.Errorf("the shards are %+v", shards)
	}
	if got := shards.Template.Spec.Containers[0].Command; got[6] != "$(JOB_COMPLETION_INDEX)/4" {
		t.Errorf("the command is %q", got)
	}
}

// TestWrongKeysAreFound holds that the reading bites.
func TestWrongKeysAreFound(t *testing.T) {
	text, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Replace(text, []byte("backoffLimitPerIndex"), []byte("backoffLimitPerIndx"), 1)
	var j batchv1.Job
	if err := yaml.UnmarshalStrict(bytes.Split(wrong, []byte("\n---\n"))[0], &j); err == nil {
		t.Error("a key that no Job has is taken")
	}
}
