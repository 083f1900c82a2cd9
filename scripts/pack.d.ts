/** Makes the npm package of the command line in a directory; returns the tarball's path. */
export function pack(outDirectory: string): string;
