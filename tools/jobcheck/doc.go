// Package jobcheck holds no code: its test reads the manifests that servesim sweep
// --emit kubernetes writes with Kubernetes' own types.
//
// It is a module of its own, so that servesim doesn't depend on Kubernetes.
package jobcheck
