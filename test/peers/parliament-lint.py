"""Reads {name: policy} from stdin, and writes [name, finding, action or resource, detail] for each of parliament's findings."""

import json
import sys

from parliament import analyze_policy_string

findings = []
for name, policy in json.load(sys.stdin).items():
    for finding in analyze_policy_string(json.dumps(policy)).findings:
        findings.append([name, finding.issue, json.dumps(finding.detail, default=str), json.dumps(finding.location, default=str)])
json.dump(findings, sys.stdout)
