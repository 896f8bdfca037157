/** The operations on calls and conferences: what they are, how they are started, and the components made from them. */
export { ConferenceRecord, ParticipantRecord } from './answer/conference-record.ts';
export { DialogRecord } from './answer/dialog-record.ts';
export type { OperationResponse, OperationResult, ResponseMode } from './answer/response.ts';
export { operationComponents } from './component.ts';
export { slaveMoves } from './calls/referreplaces.ts';
export type { ConferenceControl } from './conferences/control.ts';
export type { CallMethod, ConferenceRoute, OperationDefinition, Touched } from './definition.ts';
export { OperationError, type OperationProblem } from './errors.ts';
export {
  createOperations,
  type OperationPreview,
  type OperationRequest,
  type Operations,
  type StartedOperation,
} from './operations.ts';
export { operationPort } from './port.ts';
export { conferenceOf, participantsOf, type RoomReader } from './request/conference.ts';
export { ParameterError } from './request/parameters.ts';
export { NAMING, type Scope, type SeenDialog, selectorOf, settingsOf } from './request/target.ts';
export { type MilestoneRecord, type OperationRecord, RECORD_FIELDS } from './running/record.ts';
export { type FinishedOperation, MissingScenarioError, type OperationHandle } from './running/runner.ts';
