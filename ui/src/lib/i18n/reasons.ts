/**
 * Words for every reason, in both languages. `{name}` stands for an argument. A test reads the Rust sources and fails when a
 * code used there has no words here.
 */
import type { Reason } from "../ipc/bindings";
import type { Locale } from "./format";

type Words = Record<Locale, string>;

export const reasons: Record<string, Words> = {
  answered: {
    zh: "回答完成。",
    en: "The answer is complete.",
  },
  small_talk: {
    zh: "",
    en: "",
  },
  deadline: {
    zh: "时间已到，这里只是目前写出的部分。",
    en: "Time ran out; this is what had been written.",
  },
  deadline_passed: {
    zh: "时间已到，没有查完。",
    en: "Time ran out before the search was finished.",
  },
  cancelled: {
    zh: "已停止。",
    en: "Stopped.",
  },
  budget_exhausted: {
    zh: "超出了单次回答的限额（{limit} {what}）。",
    en: "Over the limit of one answer ({limit} {what}).",
  },
  answer_unsupported: {
    zh: "写出的内容得不到所引原文的支持，因此没有采用。",
    en: "What was written was not supported by its sources, so it is not shown.",
  },
  answer_cut: {
    zh: "模型在写完之前停下了，最后一句没有采用。",
    en: "The model stopped before its end; the last sentence was left out.",
  },
  marks_removed: {
    zh: "模型写出了不存在的出处（{marks}），已去掉。",
    en: "The model named sources that do not exist ({marks}); they were removed.",
  },
  model_failed: {
    zh: "模型 {model} 没能作答，改为摘录原文。",
    en: "{model} could not answer, so these are quotations from your documents.",
  },
  embedder_unavailable: {
    zh: "语义模型暂时无法使用，只按字词查找。",
    en: "The meaning model is not available; only words were compared.",
  },
  single_question: {
    zh: "按一个问题查找。",
    en: "Searched as one question.",
  },
  several_parts: {
    zh: "分成 {n} 个部分分别查找。",
    en: "Searched in {n} parts.",
  },
  nothing_found: {
    zh: "在可见的资料里没有找到相关内容。",
    en: "Nothing about this was found in the documents you can see.",
  },
  evidence_too_weak: {
    zh: "找到的内容关系不大，不足以作答。",
    en: "What was found has too little to do with it.",
  },
  evidence_insufficient: {
    zh: "找到的内容不足以回答这一部分。",
    en: "What was found is not enough to answer this part.",
  },
  no_sentence_above_threshold: {
    zh: "没有哪句原文能直接回答这一部分。",
    en: "No sentence of the sources answers this part directly.",
  },
  code_not_found: {
    zh: "资料里没有出现“{code}”。",
    en: "“{code}” does not occur in the documents.",
  },
  sources_conflict: {
    zh: "{a} 与 {b} 说法不同，请核对版本和日期。",
    en: "{a} and {b} differ. Compare their versions and dates.",
  },
  quoted: {
    zh: "这句话摘自原文。",
    en: "This sentence is taken from the source.",
  },
  no_citation: {
    zh: "这句话没有标明出处。",
    en: "This sentence cites no source.",
  },
  words_agree: {
    zh: "原文用语与这句话一致（{percent}%）。",
    en: "The source uses the same words ({percent}%).",
  },
  figures_agree: {
    zh: "数字与原文一致；原文是另一种语言，其余内容请自行核对。",
    en: "The figures agree; the source is in another language, so please check the rest.",
  },
  other_language: {
    zh: "原文是另一种语言，请打开核对。",
    en: "The source is in another language. Please open it and check.",
  },
  meaning_agrees: {
    zh: "意思与原文相近；原文没有这些用语：{words}",
    en: "The meaning agrees; the source does not use these words: {words}",
  },
  partly_covered: {
    zh: "原文没有提到：{words}",
    en: "The source does not mention: {words}",
  },
  text_unrelated: {
    zh: "所引原文与这句话关系不大（用语重合 {percent}%）。",
    en: "The cited passage has little to do with this sentence ({percent}% of the words).",
  },
  negation_differs: {
    zh: "肯定与否定不一致：这句话是“{claim}”，原文是“{source}”。",
    en: "One says yes, the other no: “{claim}” here, “{source}” in the source.",
  },
  number_differs: {
    zh: "数字不同：这句话是“{claim}”，原文是“{source}”。",
    en: "Different figures: “{claim}” here, “{source}” in the source.",
  },
  number_missing: {
    zh: "原文里没有这个数字：{words}",
    en: "The source does not have this figure: {words}",
  },
  date_missing: {
    zh: "原文里没有这个日期：{words}",
    en: "The source does not have this date: {words}",
  },
  code_missing: {
    zh: "原文里没有这个型号或编号：{words}",
    en: "The source does not have this code: {words}",
  },
  name_missing: {
    zh: "原文里没有这个名称：{words}",
    en: "The source does not have this name: {words}",
  },
  dense_unavailable: {
    zh: "语义搜索暂时不可用，结果只按字词查找。",
    en: "Meaning search is not available; results are found by words.",
  },
  vectors_pending: {
    zh: "还有 {n} 段内容的语义索引没有准备好，暂时只能按字词找到。",
    en: "{n} passages are still searchable by words only.",
  },
  file_unreadable: {
    zh: "无法读取“{name}”。请检查文件是否还在、是否有权限打开。",
    en: "“{name}” cannot be read. Check that it is still there and that you may open it.",
  },
  password_required: {
    zh: "“{name}”有密码保护。请输入密码来读取，密码不会保存。",
    en: "“{name}” is protected by a password. Enter it to have the file read; it is not kept.",
  },
  wrong_password: {
    zh: "“{name}”的密码不正确。请重新输入。",
    en: "The password of “{name}” is not right. Enter it again.",
  },
  file_damaged: {
    zh: "“{name}”已损坏。请用原来的软件打开并重新保存，然后再添加。",
    en: "“{name}” is damaged. Open it in its own program, save it again, then add it.",
  },
  file_empty: {
    zh: "“{name}”是空文件。",
    en: "“{name}” is empty.",
  },
  format_unsupported: {
    zh: "还不支持“{name}”这种文件（{format}）。",
    en: "“{name}” is of a kind that is not supported yet ({format}).",
  },
  file_too_large: {
    zh: "“{name}”太大，超过了可以添加的上限。",
    en: "“{name}” is larger than files may be.",
  },
  parse_limit_exceeded: {
    zh: "读取“{name}”用时或占用内存过多，已停止。可以拆成几个小文件再添加。",
    en: "Reading “{name}” took too much time or memory and was stopped. Split it into smaller files.",
  },
  parser_crashed: {
    zh: "读取“{name}”时出错，已跳过。请用原来的软件重新保存后再试。",
    en: "Reading “{name}” failed. Save it again in its own program and try once more.",
  },
  library_missing: {
    zh: "缺少读取这种文件所需的组件（{library}）。请在“设置 › 本地模型”中下载。",
    en: "A component needed for this kind of file is missing ({library}). Download it under Settings › Local models.",
  },
  io_failed: {
    zh: "读写文件时出错。请检查磁盘空间和权限后重试。",
    en: "A file could not be read or written. Check disk space and permissions, then try again.",
  },
  no_such_place: {
    zh: "“{name}”里没有这个位置。",
    en: "“{name}” has no such place.",
  },
  no_text: {
    zh: "没有可以读取的文字，可能是扫描件。",
    en: "There is no text to read; it may be a scan.",
  },
  storage_failed: {
    zh: "资料库写入失败。请检查磁盘空间后重试。",
    en: "The library could not be written. Check disk space, then try again.",
  },
  internal_fault: {
    zh: "知库自身出错，这份文档没有处理完；其他文档不受影响。请重试。",
    en: "Zhiku itself failed on this document; other documents are not affected. Try again.",
  },
  embedding_failed: {
    zh: "建立语义索引时出错，目前可按字词搜索。",
    en: "Indexing the meaning failed; the document is searchable by words.",
  },
  page_failed: {
    zh: "这一页没能读取。",
    en: "This page could not be read.",
  },
  bad_characters: {
    zh: "这一页有些字符无法辨认。",
    en: "Some characters of this page cannot be recognised.",
  },
  hidden_text: {
    zh: "这一页含有不可见的文字，没有采用。",
    en: "This page holds text that it does not show; it was left out.",
  },
  page_truncated: {
    zh: "这一页内容过多，只读取了前一部分。",
    en: "This page has more text than is read; the rest was left out.",
  },
  pictures_left_out: {
    zh: "文档里的图片过多或过大，有一部分没有读取文字。",
    en: "The document has more or larger pictures than are read; the words in some of them were left out.",
  },
  part_unreadable: {
    zh: "文档的一部分没能读取。",
    en: "A part of the document could not be read.",
  },
  part_damaged: {
    zh: "文档中途损坏，后面的内容没能读取。",
    en: "The document breaks off; what follows could not be read.",
  },
  nesting_cut: {
    zh: "有些内容嵌套过深，没有全部读取。",
    en: "Some parts are nested too deeply and were cut.",
  },
  embedded_file_left_out: {
    zh: "嵌在文档里的文件没有读取。",
    en: "A file embedded in the document was left out.",
  },
  hidden_text_left_out: {
    zh: "文档里有隐藏文字，没有采用。",
    en: "Hidden text in the document was left out.",
  },
  characters_replaced: {
    zh: "有些字符无法解码，已用 � 代替。",
    en: "Some characters could not be decoded and were replaced by �.",
  },
  columns_cut: {
    zh: "表格列数过多，只读取了前面的列。",
    en: "The table has more columns than are read; the rest was left out.",
  },
  needs_libreoffice: {
    zh: "读取这种旧版 Office 文件需要 LibreOffice。请安装后重试，或另存为 .docx / .pptx 再导入。",
    en: "Files of old Office need LibreOffice. Install it and try again, or save the file as .docx or .pptx and import that.",
  },
  needs_ffmpeg: {
    zh: "读取这种音视频需要 ffmpeg。请安装后重试。",
    en: "This recording needs ffmpeg. Install it, then try again.",
  },
  media_unreadable: {
    zh: "无法读取这份音视频文件。",
    en: "The recording cannot be read.",
  },
  media_damaged: {
    zh: "这份音视频已损坏。请确认它能在别处播放，或转换为 mp4 / mp3。",
    en: "The recording is damaged. Check whether it plays elsewhere, or convert it to mp4 or mp3.",
  },
  media_without_sound: {
    zh: "这份文件里没有声音。",
    en: "There is no sound in this file.",
  },
  media_without_picture: {
    zh: "这份文件里没有画面。",
    en: "There is no picture in this file.",
  },
  subtitles_not_text: {
    zh: "内嵌字幕是图片，不能作为文字读取。",
    en: "The subtitles inside are pictures, not text.",
  },
  media_too_slow: {
    zh: "读取这份音视频用时过长，已停止。",
    en: "Reading the recording took too long and was stopped.",
  },
  ffmpeg_failed: {
    zh: "ffmpeg 未能读取这份音视频。",
    en: "ffmpeg could not read the recording.",
  },
  nothing_said: {
    zh: "没有识别到人声或画面文字。",
    en: "Nobody speaks in it and no words are seen.",
  },
  reader_unavailable: {
    zh: "识别图片文字的模型不可用。请在“设置 › 本地模型”中下载后重试。",
    en: "The model that reads pictures is not available. Download it under Settings › Local models, then try again.",
  },
  hearing_unavailable: {
    zh: "语音识别模型不可用。请在“设置 › 本地模型”中下载后重试。",
    en: "The model that hears speech is not available. Download it under Settings › Local models, then try again.",
  },
  attachment_unsupported: {
    zh: "其中有一个附件的格式无法识别，没有导入。",
    en: "A file inside it is of no known format and was not taken in.",
  },
  nested_too_deep: {
    zh: "其中有文件嵌套过深，没有导入。",
    en: "A file inside it is nested too deep and was not taken in.",
  },
  disk_full: {
    zh: "磁盘空间不足，导入正在等待。腾出空间后会自动继续。",
    en: "The disk is almost full, so importing waits. It goes on by itself once there is room.",
  },
  memory_full: {
    zh: "内存紧张，先完成手头的文件，其余的稍后继续。",
    en: "Memory is short: the file at hand is finished first, the others follow.",
  },
  file_being_written: {
    zh: "“{name}”正在被写入，没有导入。请在写入完成后再导入。",
    en: "“{name}” is still being written. Import it when that is done.",
  },
  slide_hidden: {
    zh: "这张幻灯片在放映时隐藏。",
    en: "This slide is hidden in the show.",
  },
  slide_failed: {
    zh: "这张幻灯片没能读取。",
    en: "This slide could not be read.",
  },
  slide_damaged: {
    zh: "这张幻灯片已损坏。",
    en: "This slide is damaged.",
  },
  sheet_hidden: {
    zh: "这个工作表在文件中是隐藏的。",
    en: "This sheet is hidden in the file.",
  },
  sheet_failed: {
    zh: "这个工作表没能读取。",
    en: "This sheet could not be read.",
  },
  json_invalid: {
    zh: "JSON 格式有误，已按普通文字读取。",
    en: "It is not valid JSON and was read as text.",
  },
  member_unreadable: {
    zh: "压缩包中有文件无法解开。",
    en: "A file in the archive could not be unpacked.",
  },
  member_too_large: {
    zh: "压缩包中有文件过大，没有导入。",
    en: "A file in the archive is too large and was not taken in.",
  },
  child_too_large: {
    zh: "其中有附件过大，没有导入。",
    en: "A file inside it is too large and was not taken in.",
  },
  model_unavailable: {
    zh: "“{name}”没有安装好，相关功能暂不可用。",
    en: "“{name}” is not installed; what needs it does not work yet.",
  },
};

export function hasReason(code: string): boolean {
  return Object.hasOwn(reasons, code);
}

export function reasonText(reason: Reason, locale: Locale): string {
  const words = Object.hasOwn(reasons, reason.code) ? reasons[reason.code] : undefined;
  if (words === undefined) return reason.code.replaceAll("_", " ");
  return fill(words[locale], reason);
}

/** The same where the file's name already stands beside it. */
export function briefReason(reason: Reason, locale: Locale): string {
  const words = Object.hasOwn(reasons, reason.code) ? reasons[reason.code] : undefined;
  if (words === undefined) return reasonText(reason, locale);
  const template = locale === "zh" ? words.zh.replaceAll("“{name}”", "文件") : words.en.replace(/^“\{name\}”/u, "The file").replaceAll("“{name}”", "the file");
  return fill(template, reason);
}

function fill(template: string, reason: Reason): string {
  return template.replace(/\{([a-z_]+)\}/gu, (_, name: string) => reason.args[name] ?? "").trim();
}
