/** A city with its position and its usual weather, from January to December. */
export interface City {
  readonly name: string
  readonly latitude: number
  readonly longitude: number
  /** Mean temperature in °C. */
  readonly temperature: readonly number[]
  /** Rain in mm. */
  readonly rain: readonly number[]
}

/** Rounded averages of many years. */
export const CITIES: readonly City[] = [
  {
    name: 'Athens',
    latitude: 37.98,
    longitude: 23.73,
    temperature: [10, 11, 13, 16, 21, 26, 29, 29, 24, 20, 15, 11],
    rain: [55, 44, 46, 33, 20, 10, 9, 5, 26, 39, 65, 76],
  },
  {
    name: 'Berlin',
    latitude: 52.52,
    longitude: 13.41,
    temperature: [1, 2, 5, 10, 15, 18, 20, 20, 15, 10, 5, 2],
    rain: [49, 36, 40, 29, 53, 59, 70, 58, 46, 43, 44, 48],
  },
  {
    name: 'Lisbon',
    latitude: 38.72,
    longitude: -9.14,
    temperature: [12, 13, 15, 16, 18, 21, 23, 24, 22, 19, 15, 12],
    rain: [100, 85, 53, 68, 54, 16, 4, 6, 33, 101, 128, 127],
  },
  {
    name: 'London',
    latitude: 51.51,
    longitude: -0.13,
    temperature: [6, 6, 8, 11, 14, 17, 19, 19, 16, 12, 9, 6],
    rain: [59, 45, 39, 42, 46, 47, 46, 53, 50, 65, 67, 57],
  },
  {
    name: 'Madrid',
    latitude: 40.42,
    longitude: -3.7,
    temperature: [6, 8, 11, 13, 17, 22, 26, 25, 21, 15, 10, 7],
    rain: [33, 34, 25, 45, 50, 21, 12, 10, 22, 60, 58, 51],
  },
  {
    name: 'Paris',
    latitude: 48.86,
    longitude: 2.35,
    temperature: [5, 6, 9, 12, 16, 19, 21, 21, 17, 13, 9, 5],
    rain: [48, 43, 45, 47, 64, 51, 60, 53, 46, 59, 53, 58],
  },
  {
    name: 'Rome',
    latitude: 41.9,
    longitude: 12.5,
    temperature: [8, 8, 11, 14, 18, 22, 25, 25, 21, 17, 12, 9],
    rain: [70, 76, 59, 61, 38, 36, 21, 36, 80, 88, 111, 82],
  },
  {
    name: 'Stockholm',
    latitude: 59.33,
    longitude: 18.07,
    temperature: [-1, -1, 2, 6, 11, 16, 19, 18, 13, 8, 4, 1],
    rain: [37, 29, 27, 29, 34, 61, 62, 66, 52, 51, 48, 47],
  },
  {
    name: 'Vienna',
    latitude: 48.21,
    longitude: 16.37,
    temperature: [1, 3, 7, 12, 16, 20, 22, 21, 16, 11, 6, 2],
    rain: [41, 41, 52, 45, 69, 70, 72, 72, 61, 43, 46, 45],
  },
  {
    name: 'Warsaw',
    latitude: 52.23,
    longitude: 21.01,
    temperature: [-1, 0, 4, 10, 14, 18, 20, 19, 14, 9, 4, 1],
    rain: [32, 30, 34, 34, 60, 63, 79, 62, 50, 39, 38, 36],
  },
]

export const CITY_NAMES = CITIES.map(({ name }) => name)

/** The city with this name, in any case. */
export const findCity = (name: string): City | undefined =>
  CITIES.find((city) => city.name.toLowerCase() === name.trim().toLowerCase())
