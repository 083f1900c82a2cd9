/**
 * Headers of an answer that is not a page of the platform. Nothing stored or echoed runs as a script of the server's origin, whatever its type:
 * without a policy, an uploaded HTML file has the rights of the API's own pages.
 */
export const inertContent = {
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "x-content-type-options": "nosniff",
} as const;
