module purser.example/conformance/harness

go 1.26
