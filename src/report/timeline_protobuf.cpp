// Perfetto's own form. Names, and the values of arguments that are texts, are sent once, with the
// packet that needs them first, and referred to by numbers from then on.

#include <algorithm>
#include <map>
#include <utility>

#include "report/protobuf.h"
#include "report/timeline_view.h"

namespace shard {
namespace {

/// Numbers of fields in Perfetto's messages, as far as they are written.
namespace field {
constexpr int packet = 1;  // of Trace
// of TracePacket
constexpr int timestamp = 8, sequence = 10, event = 11, interned = 12, flags = 13, track = 60;
// of TrackDescriptor
constexpr int uuid = 1, name = 2, process = 3, parent = 5, child_ordering = 11, rank = 12;
constexpr int process_id = 1, process_name = 6;  // of ProcessDescriptor
// of TrackEvent
constexpr int category = 3, argument = 4, type = 9, event_name = 10, on_track = 11, flow = 47,
              last_flow = 48;
// of DebugAnnotation
constexpr int argument_name = 1, argument_number = 4, argument_text = 17;
// of InternedData, and of each of its entries
constexpr int categories = 1, event_names = 2, argument_names = 3, argument_texts = 29;
constexpr int number = 1, value = 2;
}  // namespace field

constexpr std::uint64_t starts_numbering = 1, uses_numbering = 2;  // flags of a packet
constexpr std::uint64_t begins = 1, ends = 2;                      // types of an event
constexpr std::uint64_t children_by_rank = 3;

/// Texts that have got numbers, by the field of InternedData that says them.
class InternedTexts {
 public:
  /// The number of the text; a new one is put into `news`.
  std::uint64_t number_of(int kind, const std::string& text, ProtobufMessage& news) {
    std::map<std::string, std::uint64_t>& known = known_[kind];
    const auto [place, is_new] = known.try_emplace(text, known.size() + 1);
    if (is_new) {
      news.message(kind,
                   ProtobufMessage().number(field::number, place->second).text(field::value, text));
    }
    return place->second;
  }

 private:
  std::map<int, std::map<std::string, std::uint64_t>> known_;
};

class TimelineProtobufWriter {
 public:
  std::string write(const std::vector<TimedFunction>& functions) {
    for (const TimedFunction& timed : functions) add(timed);
    return file_.bytes();
  }

 private:
  void add(const TimedFunction& timed) {
    ++process_;
    add_tracks(timed);
    names_ = timeline_names(timed);
    const std::vector<TimelineArrow> arrows = timeline_arrows(*timed.timeline);
    std::int64_t end = 0, meetings = 0;
    for (std::size_t i = 0; i < arrows.size(); ++i) {
      const TimelineSpan& span = timed.timeline->spans[i];
      add_span(span, arrows[i]);
      end = std::max(end, span.end);
      meetings = std::max(meetings, span.meeting + 1);
    }
    start_ += end;
    meetings_ += meetings;
    first_track_ += static_cast<std::uint64_t>(timed.timeline->devices) + 1;
  }

  void add_tracks(const TimedFunction& timed) {
    add_track(ProtobufMessage()
                  .number(field::uuid, first_track_)
                  .message(field::process, ProtobufMessage()
                                               .number(field::process_id, process_)
                                               .text(field::process_name, timed.title))
                  .number(field::child_ordering, children_by_rank));
    for (int device = 0; device < timed.timeline->devices; ++device) {
      add_track(ProtobufMessage()
                    .number(field::uuid, track_of(device))
                    .text(field::name, track_name(timed.function->program.mesh, device))
                    .number(field::parent, first_track_)
                    .number(field::rank, static_cast<std::uint64_t>(device)));
    }
  }

  void add_track(const ProtobufMessage& track) {
    add_packet(ProtobufMessage().message(field::track, track));
  }

  void add_span(const TimelineSpan& span, const TimelineArrow& arrow) {
    const TimelineNames& names = names_[static_cast<std::size_t>(span.instruction)];
    ProtobufMessage news;
    ProtobufMessage event = begin_of(names.name, names.category, span.device, news);
    for (const TimelineArgument& one : names.arguments) add_argument(one, event, news);
    if (span.iteration >= 0) add_argument({"iteration", span.iteration}, event, news);
    add_argument({"worker", std::int64_t{span.worker}}, event, news);
    if (arrow.comes || arrow.leaves) {
      event.fixed(arrow.leaves ? field::flow : field::last_flow,
                  static_cast<std::uint64_t>(meetings_ + span.meeting + 1));
    }
    add_event(span.begin, event, news);
    if (span.met != span.begin) {
      ProtobufMessage wait_news;
      const ProtobufMessage wait = begin_of("wait for members", "wait", span.device, wait_news);
      add_event(span.begin, wait, wait_news);
      add_end(span.device, span.met);
    }
    add_end(span.device, span.end);
  }

  ProtobufMessage begin_of(const std::string& name, const std::string& category, int device,
                           ProtobufMessage& news) {
    ProtobufMessage event;
    event.number(field::category, texts_.number_of(field::categories, category, news));
    event.number(field::type, begins);
    event.number(field::event_name, texts_.number_of(field::event_names, name, news));
    event.number(field::on_track, track_of(device));
    return event;
  }

  void add_argument(const TimelineArgument& one, ProtobufMessage& event, ProtobufMessage& news) {
    ProtobufMessage argument;
    argument.number(field::argument_name, texts_.number_of(field::argument_names, one.name, news));
    if (const auto* text = std::get_if<std::string>(&one.value)) {
      argument.number(field::argument_text, texts_.number_of(field::argument_texts, *text, news));
    } else {
      argument.number(field::argument_number,
                      static_cast<std::uint64_t>(std::get<std::int64_t>(one.value)));
    }
    event.message(field::argument, argument);
  }

  void add_end(int device, std::int64_t at) {
    const ProtobufMessage event = std::move(
        ProtobufMessage().number(field::type, ends).number(field::on_track, track_of(device)));
    add_event(at, event, {});
  }

  void add_event(std::int64_t at, const ProtobufMessage& event, const ProtobufMessage& news) {
    ProtobufMessage packet;
    packet.number(field::timestamp, static_cast<std::uint64_t>(start_ + at));
    packet.message(field::event, event);
    if (!news.bytes().empty()) packet.message(field::interned, news);
    add_packet(std::move(packet));
  }

  void add_packet(ProtobufMessage packet) {
    constexpr std::uint64_t only_sequence = 1;
    packet.number(field::sequence, only_sequence);
    packet.number(field::flags, is_first_ ? starts_numbering | uses_numbering : uses_numbering);
    is_first_ = false;
    file_.message(field::packet, packet);
  }

  std::uint64_t track_of(int device) const {
    return first_track_ + 1 + static_cast<std::uint64_t>(device);
  }

  ProtobufMessage file_;
  InternedTexts texts_;
  std::vector<TimelineNames> names_;  ///< of the function
  bool is_first_ = true;
  std::uint64_t process_ = 0;      ///< of the function, from 1
  std::uint64_t first_track_ = 1;  ///< the function's own; those of its devices follow
  std::int64_t start_ = 0;         ///< of the function, nanoseconds
  std::int64_t meetings_ = 0;      ///< of the functions before
};

}  // namespace

std::string timeline_protobuf(const std::vector<TimedFunction>& functions) {
  return TimelineProtobufWriter().write(functions);
}

}  // namespace shard
