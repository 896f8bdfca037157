/** The operations on calls and conferences: what they are, how they are started, and the components made from them. */
export { operationComponents } from './component.ts';
export type { ConferenceControl } from './conferences/control.ts';
export {
  AddParticipantParameters,
  type ConferenceChange,
  ConferenceLookup,
  conferenceOperations,
  type ConferenceOperations,
  TopologyCommands,
} from './conferences/conferences.ts';
export { DialogRecord } from './answer/dialog-record.ts';
export type { OperationDefinition, Touched } from './definition.ts';
export { OperationError, type OperationProblem } from './errors.ts';
export { createOperations, type OperationRequest, type Operations, type StartedOperation } from './operations.ts';
export { InviteParameters } from './calls/invite.ts';
export { ParameterError } from './request/parameters.ts';
export { operationPort } from './port.ts';
export { type MilestoneRecord, type OperationRecord, RECORD_FIELDS } from './running/record.ts';
export type { OperationResponse, OperationResult, ResponseMode } from './answer/response.ts';
export { type FinishedOperation, MissingScenarioError, type OperationHandle } from './running/runner.ts';
export { type Scope, withSelectors } from './request/target.ts';
