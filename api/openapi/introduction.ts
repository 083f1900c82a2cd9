/** Introduction of the document, in Markdown. */
export const introduction = `Everything under \`/api/v1\` takes and answers JSON.

**Who calls.** On AWS the deployment's configuration decides: requests signed with IAM credentials (Signature Version 4, service \`execute-api\`), or a bearer token of a Cognito user pool or another OpenID provider. On one machine nobody signs. A caller belongs to a team and sees that team's data, runs and models, nothing else.

**Errors** are \`{"error": {"code", "message", "details", "requestId"}}\`. \`code\` is stable; \`message\` says what was wrong, with which value, by which rule, and what to do next. A request that breaks its rules is refused with INVALID_INPUT and *all* its problems in \`details.problems\`; nothing is done then.

**Sending again.** GET, PUT and DELETE may be repeated, and so may every POST of which this document says so (\`x-ringmaster.repeatable\`). The others take an \`Idempotency-Key\`: the same request under the same key is done once. 429, 502, 503 and 504 are worth another try after a pause.

**Lists** answer \`nextToken\` while there is more; hand it back as the query parameter \`nextToken\`. Tokens are opaque.`;
