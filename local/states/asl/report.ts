export interface Diagnostic {
  readonly severity: "ERROR";
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly location?: string;
}

export type DiagnosticCode =
  | "INVALID_JSON_DESCRIPTION"
  | "SCHEMA_VALIDATION_FAILED"
  | "MISSING_TRANSITION_TARGET"
  | "DUPLICATE_STATE_NAME";

export class Report {
  readonly diagnostics: Diagnostic[] = [];

  add(location: string, message: string, code: DiagnosticCode = "SCHEMA_VALIDATION_FAILED"): void {
    this.diagnostics.push({ severity: "ERROR", code, message, ...(location && { location }) });
  }
}

export function invalidDefinition(diagnostics: readonly Diagnostic[]): string {
  const listed = diagnostics.map(
    ({ code, message, location }) => `${code}: ${message}${location ? ` at ${location}` : ""}`,
  );
  return `Invalid State Machine Definition: '${listed.join(", ")}'`;
}
