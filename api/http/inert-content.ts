/**
 * Headers for responses other than the platform's pages. Stored or echoed content never runs as a script of the
 * server's origin, whatever its type. Without this policy, an uploaded HTML file would have the rights of the API's own
 * pages.
 */
export const inertContent = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "x-content-type-options": "nosniff",
} as const;
