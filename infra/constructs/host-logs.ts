import { resourceNames } from "../../platform/trainer-job";

const folder = "/opt/ringmaster";
const kernelLog = "/var/log/ringmaster-kernel.log";

/** The configuration of the CloudWatch agent: the ECS agent's log and the driver's messages, with the instance's id. */
const agentConfig = (prefix: string): string => {
  const file = (file_path: string, stream: string) => ({
    file_path,
    log_group_name: resourceNames(prefix).hostLogGroup,
    log_stream_name: `{instance_id}/${stream}`,
  });
  return JSON.stringify({
    agent: { run_as_user: "root" },
    logs: {
      logs_collected: {
        files: { collect_list: [file("/var/log/ecs/ecs-agent.log", "ecs-agent"), file(kernelLog, "kernel")] },
      },
    },
  });
};

/** Copies the NVIDIA driver's kernel messages out of the journal, which the CloudWatch agent does not read. */
const setUp = `set -eu
systemd-run --unit=ringmaster-kernel-log --property=StandardOutput=append:${kernelLog} \\
  journalctl --dmesg --follow --lines=all --output=short-iso --grep='NVRM: '
dnf install --assumeyes amazon-cloudwatch-agent
/opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl -a fetch-config -m ec2 -s -c file:${folder}/logs.json`;

/**
 * Sends an instance's logs to CloudWatch, in a unit of its own: without the package repository it trains all the same.
 */
export const hostLogCommands = (prefix: string): readonly string[] => [
  `mkdir -p ${folder}`,
  `cat > ${folder}/logs.json <<'END'\n${agentConfig(prefix)}\nEND`,
  `cat > ${folder}/logs.sh <<'END'\n${setUp}\nEND`,
  `systemd-run --unit=ringmaster-host-logs bash ${folder}/logs.sh`,
];
