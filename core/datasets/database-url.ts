/** Returns a database's URL with its password, and any parameter named so, as `***`. */
export function hidePassword(url: string): string {
  return url
    .replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#@:]*):[^/?#]*(@)/i, "$1:***$2")
    .replaceAll(/([?&](?:[a-z_-]*password|sslkey))=[^&#]*/gi, "$1=***");
}
