/** The rule for URLs that are stored. */
export const passwordRule = "must have no password, because it would be stored; give it where the URL is read";

/** Returns a text with the passwords of its URLs, and any parameter named so, as `***`. */
export function hidePassword(text: string): string {
  // The last character of the scheme is enough: a search for its first one takes the square of a long text's length.
  return text
    .replaceAll(/([a-z0-9+.-]:\/\/[^/?#@:\s"'%]*)(?::|%3a)[^/?#\s"']*@/gi, "$1:***@")
    .replaceAll(/([?&](?:[a-z_-]*password|sslkey))=[^&#\s"']*/gi, "$1=***");
}

export function hasPassword(text: string): boolean {
  return hidePassword(text) !== text;
}
