/** Schemas of conferences in answers. */
import { Type } from 'typebox';
import { PARTICIPANT_STATES } from '../../callstore/index.ts';

/** Id of a conference, in answers. */
export const ConferenceId = Type.String({ description: 'Id of the conference.' });

/** Id of a participant, in answers. */
export const ParticipantId = Type.String({ description: 'Id of the participant.' });

/** A live conference as REST callers and scenarios read it (specification, "Conference (active)"). */
export const ConferenceRecord = Type.Object({
  confid: ConferenceId,
  confroomnum: Type.String({ description: 'Number of the room, after the featurecode.' }),
  confnumber: Type.String({ description: 'Hexadecimal number.' }),
  uri: Type.String({ description: 'URI of the room.' }),
  site: Type.String({ description: 'Site that serves it.' }),
  startts: Type.Integer({ description: 'Since when, milliseconds since the epoch.' }),
  uris: Type.Array(Type.String(), { description: 'URIs of every participant.' }),
});

/** A participant of a live conference (specification, "Conference participant"). */
export const ParticipantRecord = Type.Object({
  participantid: Type.String(),
  state: Type.Enum([...PARTICIPANT_STATES]),
  callid: Type.String(),
  luri: Type.String(),
  ltag: Type.String(),
  ruri: Type.String(),
  rtag: Type.String(),
  moderator: Type.Boolean({ description: 'The room has this participant as a moderator.' }),
  talking: Type.Boolean({ description: 'The participant speaks now.' }),
});

/** Who hears whom (specification, "Topology"). */
export const TopologyRecord = Type.Object({
  topology: Type.Array(Type.Object({ from: Type.String(), to: Type.String(), enabled: Type.Boolean() }), {
    description: '`{from, to, enabled}`: first that everybody hears everybody, then the pairs for which it is not so.',
  }),
});
