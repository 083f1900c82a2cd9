import type { Route } from "../route";

export const experimentRoutes: readonly Route[] = [];
