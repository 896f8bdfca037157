import { readdirSync, readFileSync } from 'node:fs';

/** One event on a recorded wire. */
export interface RecordedEvent {
  /** Seconds from the start. */
  readonly t: number;
  /** `app1`, `app2` ...: an application's connection; `udp`, `tcp`: SIP. */
  readonly on: string;
  /** `>` to the server, `<` from it, `raw` bytes to the server that are no complete frame. */
  readonly dir: '>' | '<' | 'raw' | 'open' | 'app-fin' | 'server-fin';
  /** Peer of a SIP message. */
  readonly from?: string;
  readonly to?: string;
  /** Bytes as latin1: a frame's payload, or a SIP message. */
  readonly text?: string;
}

/** The recorded messages of drachtio-server v0.9.10, drachtio-srf 5.0.29 and SIPp 3.6.1. */
export interface Recording {
  readonly name: string;
  readonly flow: string;
  readonly events: readonly RecordedEvent[];
}

const FOLDER = new URL('./recordings/', import.meta.url);

export function loadRecordings(): Recording[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
  return files.toSorted().map((file) => {
    const content = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Omit<Recording, 'name'>;
    return { name: file.replace('.json', ''), ...content };
  });
}
