/** Makes answers from the milestones of a scenario that calls F and transfers it to T. */
import { Type } from 'typebox';
import type { Value } from '../../language/index.ts';
import type { OperationPlan } from '../definition.ts';
import {
  afterReport,
  finalResponse,
  initialState,
  type OperationResponse,
  type OperationState,
  respond,
  type ResponseMode,
  whyOf,
} from './response.ts';

/** `result` of the operations that have response modes. */
export const RESULT = Type.Enum(['ok', 'rejected', 'redirected', 'timeout', 'error', 'undefined'], {
  description: 'How it went, as far as the response mode lets one know.',
});

/** Schemas of the fields that tell why the result is a failure. */
export const WHY = {
  sip_status: Type.Optional(
    Type.Integer({
      description:
        'SIP status with which the called party failed: 486 busy, 480 absent, 404 unknown, 408 no answer, ...',
    }),
  ),
  reason: Type.Optional(Type.String({ description: 'Reason phrase of that status.' })),
} as const;

/**
 * Follows one scenario that calls F and transfers it to T.
 * @param shape makes the operation's answer from the response in a response mode
 * @param last the operation's last response mode
 */
export function transferProgress(
  mode: ResponseMode,
  shape: (response: OperationResponse, state: OperationState, mode: ResponseMode) => Readonly<Record<string, Value>>,
  last: ResponseMode = 5,
): NonNullable<OperationPlan['progress']> {
  return ({ ivrcallid }) => {
    let state = initialState(ivrcallid);
    return {
      report: (report) => {
        state = afterReport(state, report);
      },
      answer: () => {
        const response = respond(state, mode);
        return response && shape(response, state, mode);
      },
      final: () => shape(finalResponse(state, last), state, last),
    };
  };
}

/** The response with the field names of operations on a live dialog. */
export function renamed({
  result,
  ivrcallid,
  acallid,
  last_response: last,
  dialogid,
  ...rest
}: OperationResponse): Readonly<Record<string, Value>> {
  return {
    result,
    ivrcallid,
    ...(acallid === undefined ? {} : { new_acallid: acallid }),
    ...(last === undefined ? {} : { new_last_response: last }),
    ...(dialogid === undefined ? {} : { new_dialogid: dialogid }),
    ...whyOf(rest),
  };
}

/** Schemas of the fields that `renamed` makes. */
export const RENAMED_FIELDS = {
  result: RESULT,
  ivrcallid: Type.String({ description: 'Call-ID of the initiating call.' }),
  new_acallid: Type.Optional(Type.String({ description: 'Call-ID of the A leg of the new dialog.' })),
  new_last_response: Type.Optional(Type.String({ description: 'Status line of the last answer of the target.' })),
  new_dialogid: Type.Optional(Type.String({ description: 'The new dialog.' })),
  ...WHY,
} as const;
