/** An entity as REST shows it. Entities of memory classes are frozen and shared: copy before changing. */
export type Entity = Readonly<Record<string, unknown>> & { readonly id: string };

/** The fields as the caller gave them. */
export type Input = Readonly<Record<string, unknown>>;
