import { BlockList, isIPv4, isIPv6 } from "node:net";

/**
 * The addresses that are not part of the public internet: internal addresses that a function might reach. From IANA's
 * special-purpose registries (RFC 6890 and its updates), including IPv6 ranges that embed an IPv4 address.
 */
const notPublic = new BlockList();
for (const [net, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16], // Link-local: metadata of instances, containers and functions.
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  notPublic.addSubnet(net, prefix, "ipv4");
}
for (const [net, prefix] of [
  ["2001::", 23], // Teredo, ORCHID, benchmarking.
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4, which embeds an IPv4 address.
  ["3fff::", 20],
] as const) {
  notPublic.addSubnet(net, prefix, "ipv6");
}
/** The part of IPv6 that is allocated to the internet. */
const globalUnicast = new BlockList();
globalUnicast.addSubnet("2000::", 3, "ipv6");

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !notPublic.check(address, "ipv4");
  if (!isIPv6(address)) return false;
  return globalUnicast.check(address, "ipv6") && !notPublic.check(address, "ipv6");
}

export function isLoopback(address: string): boolean {
  return isIPv4(address) ? loopback.check(address, "ipv4") : isIPv6(address) && loopback.check(address, "ipv6");
}

/** Returns whether a connection to an address reaches this machine itself, including the unspecified addresses. */
export function isThisMachine(address: string): boolean {
  return isLoopback(address) || address === "0.0.0.0" || address === "::";
}

/** Returns whether a URL names this machine itself, by address or as `localhost`. */
export function isLoopbackUrl(url: string | undefined): boolean {
  if (url === undefined || !URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  return host === "localhost" || isLoopback(host);
}
