/** The operations on who hears whom in a conference. */
import { Type } from 'typebox';
import { TopologyError } from '../../conference/index.ts';
import { TopologyRecord } from '../answer/conference-record.ts';
import { plain } from '../answer/plain.ts';
import { defineOperation } from '../definition.ts';
import { notApplicable } from '../errors.ts';
import { present } from '../request/conference.ts';

const CONFID = 'conf-5a51b213';
const PATH = '/{confid}/topology';

/** Reads who hears whom (specification, "Topology"). */
export const readTopology = defineOperation({
  name: 'read_topology',
  summary: 'Tells who hears whom in a conference.',
  parameters: Type.Object({}),
  response: TopologyRecord,
  example: { confid: CONFID },
  target: 'conference',
  http: { on: 'conferences', method: 'GET', path: PATH, answer: 'topology' },
  startsCall: false,
  plan: ({ rooms }, { confid }) => ({
    touches: () => [],
    perform: () => ({ topology: plain(present(rooms.topology(confid))) }),
  }),
});

const Command = Type.Object(
  {
    from: Type.String({ maxLength: 64, description: 'Id of the speaker; `*`: everybody.' }),
    to: Type.String({ maxLength: 64, description: 'Id of the listener; `*`: everybody.' }),
    enabled: Type.Boolean({ description: 'Whether `from` is heard by `to`.' }),
  },
  { additionalProperties: false },
);

/** Changes who hears whom (specification, "Topology"). */
export const changeTopology = defineOperation({
  name: 'change_topology',
  summary: 'Changes who hears whom: commands, carried out in order, all or none.',
  parameters: Type.Object({ commands: Type.Array(Command, { maxItems: 10_000 }) }),
  response: TopologyRecord,
  example: { confid: CONFID, commands: [{ from: '9f2c11d0a3b4', to: '*', enabled: false }] },
  target: 'conference',
  http: { on: 'conferences', method: 'POST', path: PATH, body: 'commands', answer: 'topology' },
  startsCall: false,
  plan: ({ rooms }, { confid, parameters: { commands } }) => ({
    touches: () => [],
    perform: async () => {
      try {
        return { topology: plain(present(await rooms.changeTopology(confid, commands))) };
      } catch (error) {
        if (error instanceof TopologyError) throw notApplicable(error.field, error.reason);
        throw error;
      }
    },
  }),
});
