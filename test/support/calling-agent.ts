/** A scenario that calls an agent. */
export interface CallingAgent {
  readonly id: string;
  /** Number of the agent; default: Bob's. */
  readonly to?: string;
  /** Lines before `start`. */
  readonly head?: string;
  /** Exits of the call, e.g. `answered: talk, refused: bye`. */
  readonly exits: string;
  /** The other blocks, indented by two. */
  readonly blocks: string;
}

/** A scenario in YAML that answers its caller and calls a phone, as the leg `agent`. */
export function callingAgent({ id, to = '102', head = '', exits, blocks }: CallingAgent): string {
  return `
id: ${id}
${head}
start: pick_up
blocks:
  pick_up: { answer: , next: ring }
  ring:
    call: { to: "${to}", timeout: 10s }
    leg: agent
    exits: { ${exits} }
${blocks}
`;
}
