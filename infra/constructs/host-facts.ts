import { hostDirectory, hostFiles } from "../../platform/host-files";

/** The folder of this file's scripts on an instance. */
const folder = "/opt/ringmaster";
const unit = "ringmaster-host-facts";
/** The seconds between two polls for a spot notice, as EC2's documentation recommends. */
const pollSeconds = 5;

/**
 * Describes the instance to its containers, which cannot reach the metadata service. Each file appears complete.
 * Arguments: the directory, the seconds between two polls, the endpoint of the metadata service.
 */
export const hostFactsScript = `directory=$1 seconds=$2 service=$3/latest
request() { curl --silent --fail --max-time 2 "$@"; }
item() { request --header "X-aws-ec2-metadata-token: $token" "$service/meta-data/$1"; }
publish() { printf '%s' "$2" > "$directory/.$1" && mv -f "$directory/.$1" "$directory/$1"; }
describe() {
  id=$(item instance-id) && type=$(item instance-type) && zone=$(item placement/availability-zone) || return
  publish ${hostFiles.machine} "$(printf '{"instanceId":"%s","instanceType":"%s","availabilityZone":"%s"}' "$id" "$type" "$zone")"
}
mkdir -p "$directory"
while :; do
  if token=$(request --request PUT --header 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$service/api/token"); then
    [ -e "$directory/${hostFiles.machine}" ] || describe
    notice=$(item spot/instance-action) && publish ${hostFiles.spotNotice} "$notice"
  fi
  sleep "$seconds"
done`;

const factsUnit = `[Unit]
Description=Describes this instance and its spot notice to the trainers
StartLimitIntervalSec=0
[Service]
ExecStart=/bin/bash ${folder}/host-facts.sh ${hostDirectory} ${pollSeconds} http://169.254.169.254
Restart=always
RestartSec=1
[Install]
WantedBy=multi-user.target`;

/**
 * Refuses the metadata service to every process that is not root's, because containers of single-node jobs share the
 * host's network (ADR 070).
 */
const blockMetadata = `set -eu
rule='OUTPUT --destination 169.254.169.254 --match owner --uid-owner 1-4294967294 --jump REJECT'
iptables --wait --check $rule 2> /dev/null || iptables --wait --insert $rule`;

/** Without the rule, the agent does not start, so the instance takes no jobs. systemd retries every ten seconds. */
const agentDropIn = `[Service]
ExecStartPre=/bin/bash ${folder}/block-metadata.sh`;

const write = (file: string, content: string) => `cat > ${file} <<'END'\n${content}\nEND`;

/**
 * Separates containers from the metadata service, and gives them its facts as files. The ECS agent starts afterwards.
 */
export const hostFactsCommands = (): readonly string[] => [
  `mkdir -p ${folder} /etc/systemd/system/ecs.service.d`,
  "echo ECS_AWSVPC_BLOCK_IMDS=true >> /etc/ecs/ecs.config", // Multi-node parallel jobs have a network of their own.
  write(`${folder}/block-metadata.sh`, blockMetadata),
  write("/etc/systemd/system/ecs.service.d/ringmaster.conf", agentDropIn),
  write(`${folder}/host-facts.sh`, hostFactsScript),
  write(`/etc/systemd/system/${unit}.service`, factsUnit),
  "systemctl daemon-reload",
  `systemctl enable --now ${unit}`,
];
