// SPDX-License-Identifier: MIT
// The functions of CUPTI that Kineto calls.

#include <cupti.h>

#include "tools/null_gpu/streams/activity.h"
#include "tools/null_gpu/streams/trace.h"

namespace null_gpu {
namespace {

// Whether a null GPU makes such records. Others may be enabled, as on a device
// on which nothing of the kind happens.
bool IsKnown(CUpti_ActivityKind kind) {
  CUpti_Activity record = {};
  record.kind = kind;
  return RecordBytes(record) > 0;
}

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "an error of the null CUPTI";
  return CUPTI_SUCCESS;
}

// Callbacks are accepted and never called: no context or module is made here
// that Kineto would have to know.
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber,
                           CUpti_CallbackFunc, void*) {
  static char handle;
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&handle);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  if (IsKnown(kind)) GetActivityBuffers().Enable(kind, true);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  GetActivityBuffers().Enable(kind, false);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid,
                                          uint8_t enable) {
  GetActivityBuffers().EnableCall(cbid, enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc request,
    CUpti_BuffersCallbackCompleteFunc complete) {
  GetActivityBuffers().SetCallbacks(request, complete);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(
    CUpti_TimestampCallbackFunc clock) {
  RegisterTraceClock(clock);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(uint32_t) {
  GetActivityBuffers().Flush();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t bytes,
                                       CUpti_Activity** record) {
  uint8_t* next = buffer;
  if (*record != nullptr) {
    next = reinterpret_cast<uint8_t*>(*record) + RecordBytes(**record);
  }
  if (next >= buffer + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t,
                                              size_t* dropped) {
  *dropped = 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(
    CUpti_ExternalCorrelationKind kind, uint64_t id) {
  PushExternalId(kind, id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(
    CUpti_ExternalCorrelationKind kind, uint64_t* id) {
  return PopExternalId(kind, id) ? CUPTI_SUCCESS : CUPTI_ERROR_QUEUE_EMPTY;
}

}  // extern "C"
}  // namespace null_gpu
