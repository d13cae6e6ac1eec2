// Made of the JSON Schemas that `tandemux schema` prints; `go test ./cmd/tandemux -run TestWebTypes -update` writes it.

export interface Action {
  type: string;
}

export interface ActiveClient {
  clientId: string;
  customizations?: any[];
  displayName?: string;
  tools: ToolDefinition[];
}

export interface ActivityState {
  layouts: Record<string, number>;
  refusals?: AgentRefusal[];
  terminals: Record<string, Attention>;
  warning?: string;
}

export interface AgentInfo {
  capabilities?: any;
  description: string;
  displayName: string;
  models: (Record<string, any>)[];
  protectedResources?: any[];
  provider: string;
}

export interface AgentRefusal {
  agent: string;
  at: number;
  count: number;
  session?: string;
  terminal?: string;
  what: string;
  why: string;
}

export interface AgentSelection {
  uri: string;
}

export interface Annotation {
  _meta?: Record<string, any>;
  entries: AnnotationEntry[];
  id: string;
  origin: AnnotationOrigin;
  range?: AnnotationRange;
  resolved: boolean;
  resource: string;
}

export interface AnnotationEntry {
  _meta?: Record<string, any>;
  id: string;
  text: Prose;
}

export interface AnnotationOrigin {
  chat?: string;
  session: string;
  turnId?: string;
}

export interface AnnotationPosition {
  character: number;
  line: number;
}

export interface AnnotationRange {
  end: AnnotationPosition;
  start: AnnotationPosition;
}

export interface AnnotationState {
  annotations: Annotation[];
}

export interface AnnotationSummary {
  annotationCount: number;
  entryCount: number;
  resource: string;
}

export interface Answer {
  state: string;
  value?: AnswerValue;
}

export interface AnswerValue {
  freeformValues?: string[];
  kind: string;
  value: any;
}

export interface Ask {
  command?: string;
  id: string;
  panes?: boolean;
  reason: string;
  who: string;
}

export interface Attachment {
  _meta?: Record<string, any>;
  annotationIds?: string[];
  contentType?: string;
  data?: string;
  displayKind?: string;
  endTurn?: string;
  label?: string;
  modelRepresentation?: string;
  range?: any;
  resource?: string;
  selection?: any;
  type: string;
  uri?: string;
}

export interface Attention {
  bell?: number;
  note?: Note;
  output?: number;
  seen?: number;
  status?: ProgramStatus;
}

export interface BackgroundWork {
  _meta?: Record<string, any>;
  chat?: string;
  command?: string;
  id?: string;
  kind: string;
  label?: string;
  startedAt?: string;
  terminal?: string;
}

export interface Changeset {
  capabilities?: ChangesetCapabilities;
  changeKind: string;
  description?: string;
  label: string;
  uriTemplate: string;
}

export interface ChangesetCapabilities {
  review?: Record<string, any>;
}

export interface ChangesetContentRef {
  contentType?: string;
  sizeHint?: number;
  uri: string;
}

export interface ChangesetEdit {
  after?: ChangesetSide;
  before?: ChangesetSide;
  diff?: ChangesetLines;
}

export interface ChangesetFile {
  _meta?: Record<string, any>;
  edit: ChangesetEdit;
  id: string;
  reviewed?: boolean;
}

export interface ChangesetLines {
  added?: number;
  removed?: number;
}

export interface ChangesetOperation {
  confirmation?: Prose;
  description?: string;
  error?: ErrorInfo;
  group?: string;
  icon?: string;
  id: string;
  label: string;
  scopes: string[];
  status: string;
}

export interface ChangesetSide {
  content: ChangesetContentRef;
  uri: string;
}

export interface ChangesetState {
  error?: ErrorInfo;
  files: ChangesetFile[];
  operations?: ChangesetOperation[];
  status: string;
}

export interface ChatOrigin {
  chat?: string;
  kind: string;
  selection?: any;
  toolCallId?: string;
  turnId?: string;
}

export interface ChatState {
  _meta?: Record<string, any>;
  activeTurn?: Turn;
  activity?: string;
  backgroundWork?: BackgroundWork[];
  changes?: Record<string, any>;
  changesets?: Changeset[];
  draft?: Message;
  interactivity?: string;
  modifiedAt: string;
  movable?: boolean;
  origin?: ChatOrigin;
  queuedMessages?: PendingMessage[];
  resource: string;
  status: number;
  steeringMessage?: PendingMessage;
  title: string;
  turns: Turn[];
  turnsNextCursor?: string;
  workingDirectories?: string[];
}

export interface ChatSummary {
  activity?: string;
  changes?: Record<string, any>;
  interactivity?: string;
  modifiedAt: string;
  movable?: boolean;
  origin?: ChatOrigin;
  resource: string;
  status: number;
  title: string;
  workingDirectories?: string[];
}

export interface Claim {
  chat?: string;
  clientId?: string;
  kind: string;
  session?: string;
  toolCallId?: string;
  turnId?: string;
}

export interface CommandInfo {
  bytes: number;
  commandId: string;
  commandLine: string;
  cwd?: string;
  durationMs?: number;
  exitCode?: number;
  running?: boolean;
  timestamp: number;
}

export interface Contributor {
  clientId?: string;
  customizationId?: string;
  kind: string;
}

export interface Envelope {
  action: Action;
  channel: string;
  origin?: Origin;
  rejectionReason?: string;
  serverSeq: number;
}

export interface ErrorInfo {
  _meta?: Record<string, any>;
  errorType: string;
  message: string;
  stack?: string;
}

export interface GuestShare {
  clients?: string[];
  expires: number;
  name: string;
  opened?: boolean;
  readOnly?: boolean;
  token: string;
}

export interface InputNeeded {
  chat?: string;
  clientId?: string;
  id?: string;
  kind: string;
  request?: InputRequest;
  toolCall?: ToolCall;
  turnId?: string;
}

export interface InputRequest {
  _meta?: Record<string, any>;
  answers?: Record<string, Answer>;
  id: string;
  message?: Prose;
  questions?: Question[];
  url?: string;
}

export interface LayoutState {
  doc: any;
  rev: number;
  terminals: string[];
}

export interface Lifecycle {
  exitCode?: number;
  status: string;
}

export interface Message {
  _meta?: Record<string, any>;
  agent?: AgentSelection;
  attachments?: Attachment[];
  model?: ModelSelection;
  origin: MessageOrigin;
  text: string;
}

export interface MessageOrigin {
  kind: string;
}

export interface ModelSelection {
  config?: Record<string, any>;
  id: string;
}

export interface Note {
  at: number;
  body?: string;
  title?: string;
}

export interface Origin {
  clientId: string;
  clientSeq: number;
}

export interface Part {
  commandId?: string;
  commandLine?: string;
  durationMs?: number;
  exitCode?: number;
  isComplete?: boolean;
  output?: string;
  timestamp?: number;
  type: string;
  value?: string;
}

export interface PendingMessage {
  id: string;
  message: Message;
}

export interface ProgramStatus {
  app?: string;
  at: number;
  kind?: string;
  progress?: number;
  state: string;
  text?: string;
  title?: string;
}

export interface Project {
  displayName: string;
  uri: string;
}

export type Prose = string | Record<string, any>;

export interface Question {
  id: string;
  kind: string;
  message: Prose;
  options?: unknown[];
  required?: boolean;
  title?: string;
}

export interface ResourcePatterns {
  items: string[];
}

export interface ResourceWatchState {
  excludes?: ResourcePatterns;
  includes?: ResourcePatterns;
  recursive: boolean;
  root: string;
}

export interface ResponsePart {
  _meta?: Record<string, any>;
  content?: Prose;
  error?: ErrorInfo;
  id?: string;
  kind: string;
  request?: InputRequest;
  response?: string;
  resumable?: boolean;
  toolCall?: ToolCall;
}

export interface RootConfig {
  schema: Record<string, any>;
  values: Record<string, any>;
}

export interface RootMeta {
  "tandemux/layouts": Record<string, number>;
}

export interface RootState {
  _meta?: RootMeta;
  activeSessions?: number;
  agents: AgentInfo[];
  config?: RootConfig;
  terminals?: TerminalInfo[];
}

export interface SessionChat {
  changes?: any;
  interactivity?: string;
  origin?: ChatOrigin;
  resource: string;
  status: number;
  title: string;
}

export interface SessionConfig {
  schema: any;
  values: Record<string, any>;
}

export interface SessionState {
  _meta?: Record<string, any>;
  activeClients: ActiveClient[];
  activity?: string;
  annotations?: AnnotationSummary;
  changesets?: Changeset[];
  chats: ChatSummary[];
  config?: SessionConfig;
  creationError?: ErrorInfo;
  customizations?: any[];
  defaultChat?: string;
  inputNeeded?: InputNeeded[];
  lifecycle: string;
  origin?: any;
  project?: Project;
  provider: string;
  serverTools?: ToolDefinition[];
  status: number;
  title: string;
  workingDirectories?: string[];
}

export interface SessionSummary {
  _meta?: Record<string, any>;
  activity?: string;
  annotations?: AnnotationSummary;
  changes?: Record<string, any>;
  chats?: SessionChat[];
  createdAt: string;
  defaultChat?: string;
  modifiedAt: string;
  origin?: any;
  project?: Project;
  provider: string;
  resource: string;
  status: number;
  title: string;
  workingDirectories?: string[];
}

export interface Snapshot {
  _meta?: Record<string, any>;
  fromSeq: number;
  resource: string;
  state: State;
}

export type State = ActivityState | AnnotationState | ChangesetState | ChatState | LayoutState | ResourceWatchState | RootState | SessionState | TerminalState;

export interface StateMeta {
  "tandemux/echo"?: string;
}

export interface TerminalInfo {
  _meta?: TerminalMeta;
  claim: Claim;
  exitCode?: number;
  lifecycle: Lifecycle;
  resource: string;
  title: string;
}

export interface TerminalMeta {
  "tandemux/agent"?: string;
  "tandemux/ask"?: Ask;
  "tandemux/command"?: string[];
  "tandemux/commandIsShell"?: boolean;
  "tandemux/created"?: number;
  "tandemux/cwd"?: string;
  "tandemux/detached"?: boolean;
  "tandemux/ended"?: string;
  "tandemux/fit"?: boolean;
  "tandemux/handBack"?: Claim;
  "tandemux/holder"?: string;
  "tandemux/lastCommand"?: CommandInfo;
  "tandemux/layouts"?: string[];
  "tandemux/name"?: string;
  "tandemux/orphaned"?: boolean;
  "tandemux/pid"?: number;
  "tandemux/principal"?: string;
  "tandemux/scrollback"?: number;
  "tandemux/shares"?: GuestShare[];
  "tandemux/signal"?: string;
  "tandemux/title"?: string;
}

export interface TerminalResult {
  exitCode?: number;
  fullOutput?: any;
  preview?: string;
  truncated?: boolean;
}

export interface TerminalState {
  _meta?: StateMeta;
  claim: Claim;
  cols?: number;
  content: Part[];
  cwd?: string;
  exitCode?: number;
  isPty?: boolean;
  lifecycle: Lifecycle;
  rows?: number;
  supportsCommandDetection?: boolean;
  title: string;
}

export interface ToolCall {
  _meta?: Record<string, any>;
  auth?: any;
  confirmationTitle?: Prose;
  confirmed?: string;
  content?: ToolContent[];
  contributor?: Contributor;
  displayName?: string;
  duration?: number;
  editable?: boolean;
  edits?: Record<string, any>;
  error?: ToolError;
  intention?: string;
  invocationMessage?: Prose;
  options?: ToolOption[];
  partialInput?: string;
  pastTenseMessage?: Prose;
  progress?: ToolProgress;
  reason?: string;
  reasonMessage?: Prose;
  riskAssessment?: any;
  selectedOption?: ToolOption;
  startedAt?: string;
  status: string;
  structuredContent?: any;
  success?: boolean;
  toolCallId?: string;
  toolInput?: any;
  toolName?: string;
  userSuggestion?: any;
}

export interface ToolContent {
  after?: ChangesetSide;
  agentName?: string;
  before?: ChangesetSide;
  contentType?: string;
  data?: string;
  description?: string;
  diff?: ChangesetLines;
  isPty?: boolean;
  resource?: string;
  result?: TerminalResult;
  sizeHint?: number;
  text?: string;
  title?: string;
  type: string;
  uri?: string;
}

export interface ToolDefinition {
  _meta?: Record<string, any>;
  annotations?: any;
  description?: string;
  inputSchema?: any;
  name: string;
  outputSchema?: any;
  title?: string;
}

export interface ToolError {
  code?: any;
  message: string;
}

export interface ToolOption {
  _meta?: Record<string, any>;
  group?: number;
  id: string;
  kind: string;
  label: string;
}

export interface ToolProgress {
  elapsedMs: number;
  message?: Prose;
}

export interface Turn {
  duration?: number;
  id: string;
  message: Message;
  responseParts: ResponsePart[];
  startedAt?: string;
  state?: string;
  usage?: Usage;
}

export interface Usage {
  _meta?: Record<string, any>;
  cacheReadTokens?: number;
  inputTokens?: number;
  model?: string;
  outputTokens?: number;
}
