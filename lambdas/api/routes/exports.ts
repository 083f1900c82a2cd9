import type { Route } from "../route";

export const exportRoutes: readonly Route[] = [];
