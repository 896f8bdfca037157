/** What may cross between a script and its host: JSON data, copied, never shared. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };
