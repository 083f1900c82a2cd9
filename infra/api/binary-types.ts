/**
 * The values of `Content-Type` whose bodies the gateway passes on as bytes, base64-encoded in the function's event. It
 * decodes all other bodies as UTF-8 text, which changes binary data
 * (docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings-workflow.html).
 *
 * The list contains the types that MLflow's client sends for files: text, the types that Python's `mimetypes` and the
 * system's table assign to extensions, and `application/octet-stream`. JSON is excluded, and therefore the wildcard for
 * all types is too. JSON as text is unchanged (RFC 8259 allows only UTF-8), the gateway can check its schemas, and
 * base64 would take a third more of the function's event of 6 MB.
 *
 * A file with an unlisted type that is not UTF-8 arrives changed. The function compares lengths and digests, and
 * refuses it by name.
 *
 * Answers do not need the list: files are downloaded from the store after a redirect, and streams are passed on
 * unchanged.
 */
export const binaryMediaTypes: readonly string[] = [
  "application/octet-stream",
  ...["audio", "font", "image", "message", "model", "video"].map((type) => `${type}/*`),
  ...[
    "css",
    "csv",
    "html",
    "javascript",
    "markdown",
    "n3",
    "plain",
    "richtext",
    "rtf",
    "tab-separated-values",
    "vtt",
    "x-c",
    "x-c++src",
    "x-chdr",
    "x-csrc",
    "x-java",
    "x-python",
    "x-r-source",
    "x-rst",
    "x-scala",
    "x-setext",
    "x-sgml",
    "x-sh",
    "x-tex",
    "x-vcard",
    "xml",
    "yaml",
  ].map((type) => `text/${type}`),
  ...[
    "gzip",
    "javascript",
    "msword",
    "n-quads",
    "n-triples",
    "pdf",
    "postscript",
    "rtf",
    "sql",
    "toml",
    "trig",
    "vnd.apache.arrow.file",
    "vnd.apache.parquet",
    "vnd.ms-excel",
    "vnd.ms-powerpoint",
    "vnd.openxmlformats-officedocument.presentationml.presentation",
    "vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "vnd.openxmlformats-officedocument.wordprocessingml.document",
    "vnd.sqlite3",
    "wasm",
    "x-7z-compressed",
    "x-bzip2",
    "x-csh",
    "x-gtar",
    "x-gzip",
    "x-hdf",
    "x-hdf5",
    "x-latex",
    "x-netcdf",
    "x-python-code",
    "x-rar-compressed",
    "x-sh",
    "x-sqlite3",
    "x-tar",
    "x-tex",
    "x-xz",
    "x-yaml",
    "xml",
    "yaml",
    "zip",
    "zstd",
  ].map((type) => `application/${type}`),
];
