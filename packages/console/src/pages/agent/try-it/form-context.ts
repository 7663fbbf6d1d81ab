import type { JsonObject, JsonValue } from '@switchboard/protocol/json'
import { type ComponentType, createContext, useContext } from 'react'
import type { Field } from '../schema/field.js'

/** A place of the input to be filled in. */
export interface PlaceProps {
  /** The schema of the place. */
  readonly place: JsonValue
  readonly pointer: string
  readonly label: string
  readonly isRequired: boolean
  readonly value: JsonValue | undefined
  /** Undefined: the member is left out. */
  readonly onChange: (value: JsonValue | undefined) => void
}

/** What every kind of field gets. */
export interface FieldProps<F extends Field = Field> extends PlaceProps {
  readonly field: F
  /** Label, description and error, in the form that Mantine's inputs take. */
  readonly shared: {
    readonly id: string
    readonly label: string
    readonly description?: string
    readonly error?: string
    readonly withAsterisk: boolean
  }
}

/** What all fields of a form share. */
export interface FormContext {
  /** The schema that references point into. */
  readonly root: JsonObject
  /** What is wrong at each JSON pointer. */
  readonly issues: ReadonlyMap<string, string>
  /** Distinguishes the fields of several forms on a page. */
  readonly prefix: string
  /** Says whether the text of a field is no JSON, so that its value is not what is shown. */
  readonly onBroken: (id: string, isBroken: boolean) => void
  /** Shows the field of a place; fields contain each other. */
  readonly Place: ComponentType<PlaceProps>
}

const Context = createContext<FormContext>({
  root: {},
  issues: new Map(),
  prefix: '',
  onBroken: () => {},
  Place: () => null,
})

export const FormProvider = Context.Provider
export const useForm = (): FormContext => useContext(Context)
