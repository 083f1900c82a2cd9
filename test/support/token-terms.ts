import { scopes } from "../../core/access/tokens";

/** Terms of a token that permits everything and does not expire in a test's time. */
export const tokenTerms = { expiresAt: "2999-01-01T00:00:00.000Z", scopes: [...scopes] };
