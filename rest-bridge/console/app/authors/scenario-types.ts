/** Scenarios as the service shows them, as far as authors' pages use it. */

export type Kind = 'ivr' | 'svc';
export type Format = 'yaml' | 'ts' | 'js';

export interface ScriptData {
  readonly format: Format;
  readonly source: string;
}

export interface Problem {
  readonly line: number;
  readonly column: number;
  readonly message: string;
  readonly suggestion?: string;
  readonly severity?: 'warning';
  /** Another script with the mistake. */
  readonly file?: string;
}

export interface Serving {
  readonly version: number | null;
  readonly trial?: { readonly version: number; readonly percent?: number; readonly callers?: readonly string[] };
}

export interface Script {
  readonly id: string;
  readonly code: string;
  readonly name: string;
  readonly scriptdata: ScriptData;
  readonly version: number;
  readonly draft: boolean;
  readonly serving: Serving;
  readonly problems: readonly Problem[];
  readonly opts: Readonly<Record<string, unknown>>;
  readonly ext: Readonly<Record<string, unknown>>;
}

/** True for a scenario file of the node. */
export function isFile({ id }: Pick<Script, 'id'>): boolean {
  return id.startsWith('file.');
}

/** The path of the collection. */
export function pathOf(kind: Kind): string {
  return `/domain/${kind}scripts`;
}

export interface GraphNode {
  readonly id: string;
  readonly kind: 'start' | 'step' | 'choice' | 'event' | 'function' | 'end';
  readonly label: string;
  readonly component?: string;
  readonly block?: string;
  readonly line?: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
  readonly label?: string;
  readonly dashed?: true;
}

export interface Graph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}
