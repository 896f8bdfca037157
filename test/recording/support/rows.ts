import { randomUUID } from 'node:crypto';
import type { RecordRow } from '../../../runtime/recording/archive.ts';

/** A recording that is going on. */
export function recordRow(fields: Partial<RecordRow>): RecordRow {
  const inviteid = randomUUID();
  return {
    id: randomUUID(),
    domain_id: 'd1',
    domain: 'One.local',
    idconn: inviteid,
    inviteid,
    dialogid: 'dialog',
    layer: '',
    rule_id: 'r1',
    storage: '',
    status: 'recording',
    reason: '',
    startts: 1_790_000_000_000,
    endts: 0,
    length: 0,
    size: 0,
    sha256: '',
    reclink: '',
    parties: [{ side: 'a', channel: 0, number: '101', login: 'alice', domain: 'One.local', uri: '<sip:alice@one>' }],
    transcribe: false,
    asr_status: '',
    asr_since: 0,
    transcript: {},
    node: 'test',
    ...fields,
  };
}
