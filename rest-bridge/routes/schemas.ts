/** Schemas of common answers. */
import { type TSchema, Type } from 'typebox';

/** The error object of every failure. */
export const ErrorAnswer = Type.Object({
  error_code: Type.Integer(),
  error_message: Type.String(),
  error_details: Type.Optional(Type.Object({}, { additionalProperties: true })),
});

export const NoContent = Type.Null({ description: 'No body' });

export const IdPath = Type.Object({ id: Type.String({ minLength: 1 }) });

/** Answer schemas by status. They document: the answers themselves depend on mask and flat, so they do not type it. */
export function answers(byStatus: Readonly<Record<number, TSchema>>): Readonly<Record<number, TSchema>> {
  return byStatus;
}
