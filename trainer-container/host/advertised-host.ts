import type { NetworkInterfaceInfo } from "node:os";

/** Network bridges of container runtimes and virtual machines: they have an address that other hosts cannot reach. */
const virtual = /^(docker|br-|veth|virbr|cni|cali|flannel|ecs-bridge|lxc)/;

/**
 * Returns the address at which other workers reach this process: the first IPv4 address of a real interface. Batch's EC2
 * jobs run in the host's network, so it is the instance's own address.
 */
export function advertisedHost(
  interfaces: Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>,
): string {
  for (const [name, addresses = []] of Object.entries(interfaces)) {
    if (virtual.test(name)) continue;
    const found = addresses.find(
      ({ family, internal, address }) => family === "IPv4" && !internal && !address.startsWith("169.254."),
    );
    if (found) return found.address;
  }
  return "127.0.0.1"; // a host without a network trains alone
}
